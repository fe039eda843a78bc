//! Encryption of connections to a database, by rustls.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Encrypted, whoever the server is: what `sslmode=prefer` and `require` mean to PostgreSQL's own programs.
pub(super) fn unchecked() -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let config = builder(&provider)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Encrypted, to a server whose certificate one of the authorities in the file, or of the machine, has given to this host.
pub(super) fn checked(roots: Option<&Path>) -> Result<MakeRustlsConnect, String> {
    let certificates: Vec<CertificateDer<'static>> = match roots {
        Some(path) => {
            let problem = |error| format!("{}: {error}", path.display());
            let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
            read.map_err(problem)?
        }
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(certificates);
    if added == 0 {
        let place = roots.map_or_else(|| "this machine".into(), |path| path.display().to_string());
        return Err(format!("{place} has no certificates of authorities: name them by sslrootcert=FILE"));
    }
    let provider = Arc::new(ring::default_provider());
    Ok(MakeRustlsConnect::new(builder(&provider)?.with_root_certificates(store).with_no_client_auth()))
}

fn builder(
    provider: &Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, String> {
    let builder = ClientConfig::builder_with_provider(Arc::clone(provider));
    builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())
}

/// Takes every certificate; signatures are checked all the same.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
