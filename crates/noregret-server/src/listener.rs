//! Sockets: connections are accepted, limited in number and in time, and their requests are handed to threads.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use noregret_client::api::Problem;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::problem::busy;
use crate::request::{Answer, Body, HEADERS, Pieces, Request};

/// Connections at once.
const CONNECTIONS: usize = 1_024;
/// How long a client may take to say what it wants: to shake hands, to send the head of a request, and its body.
const HANDSHAKE: Duration = Duration::from_secs(10);
const HEAD: Duration = Duration::from_secs(20);
const BODY: Duration = Duration::from_mins(1);
/// The longest body, and the longest head, in bytes.
const LONGEST_BODY: usize = 64 << 20;
const LONGEST_HEAD: usize = 64 << 10;
/// How long requests may take to end after the server was told to.
const GRACE: Duration = Duration::from_secs(10);

/// What browsers are told with every answer: nothing from elsewhere, nothing to elsewhere, and no frame around it.
const SECURITY: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
];

/// Certificate and key, as PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, and those that vouch for it.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address.
    #[error("cannot listen at {address}: {problem}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        problem: io::Error,
    },
    /// The certificate or its key.
    #[error("{}: {problem}", .path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// Threads and the like.
    #[error("the server cannot be started: {0}")]
    Start(io::Error),
}

/// A server at work. Dropping it ends it.
pub struct Listening {
    /// Where it listens.
    pub address: SocketAddr,
    app: Arc<App>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Listening {
    /// Answers who is waiting, and ends.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.app.close();
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.end();
    }
}

/// Listens at an address, on threads of its own.
pub fn listen(app: Arc<App>, address: SocketAddr, tls: Option<&TlsFiles>) -> Result<Listening, ListenError> {
    let acceptor = tls.map(acceptor).transpose()?;
    let bind = |problem| ListenError::Bind { address, problem };
    let listener = TcpListener::bind(address).map_err(bind)?;
    listener.set_nonblocking(true).map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    app.serves_at(address.port(), tls.is_some());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Each request has a thread while it is handled.
        .max_blocking_threads(CONNECTIONS + 16)
        .thread_name("http")
        .enable_all()
        .build()
        .map_err(ListenError::Start)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = Arc::clone(&app);
    let serve = move || {
        runtime.block_on(accept(serving, listener, acceptor, stopped));
        runtime.shutdown_timeout(Duration::from_secs(1));
    };
    let thread = thread::Builder::new().name("server".into()).spawn(serve).map_err(ListenError::Start)?;
    Ok(Listening { address, app, stop: Some(stop), thread: Some(thread) })
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ListenError> {
    let failed = |path: &Path, problem: String| ListenError::Certificate { path: path.into(), problem };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| failed(&files.certificate, error.to_string()))?;
    if certificates.is_empty() {
        return Err(failed(&files.certificate, "there is no certificate in it".into()));
    }
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|error| failed(&files.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&files.certificate, error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|error| failed(&files.certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Accepts connections until the server is told to stop, and then waits for those that are in the middle of something.
async fn accept(
    app: Arc<App>,
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    mut stopped: oneshot::Receiver<()>,
) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!("cannot listen: {error}"),
    };
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut stopped => break,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Too many files are open, for instance: others will be closed.
                tracing::warn!("a connection was not accepted: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Beyond the limit a connection is closed at once.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let _ = stream.set_nodelay(true);
        let (app, acceptor, watcher) = (Arc::clone(&app), acceptor.clone(), graceful.watcher());
        tokio::spawn(async move {
            let _place = place;
            app.metrics.connections.fetch_add(1, Ordering::Relaxed);
            match acceptor {
                None => talk(&app, stream, from.ip(), watcher).await,
                Some(acceptor) => match timeout(HANDSHAKE, acceptor.accept(stream)).await {
                    Ok(Ok(stream)) => talk(&app, stream, from.ip(), watcher).await,
                    Ok(Err(error)) => tracing::debug!(%from, "TLS: {error}"),
                    Err(_) => tracing::debug!(%from, "TLS: no handshake in time"),
                },
            }
            app.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
    drop(listener);
    let _ = timeout(GRACE, graceful.shutdown()).await;
}

/// Answers the requests of one connection.
async fn talk<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    app: &Arc<App>,
    stream: S,
    from: IpAddr,
    watcher: Watcher,
) {
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let app = Arc::clone(app);
        async move { Ok::<_, Infallible>(respond(answer(&app, request, from).await)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%from, "connection: {error}");
    }
}

async fn answer(app: &Arc<App>, request: hyper::Request<Incoming>, from: IpAddr) -> Answer {
    let (head, body) = request.into_parts();
    let mut headers = std::collections::BTreeMap::new();
    for name in HEADERS {
        if let Some(value) = head.headers.get(name) {
            match value.to_str() {
                Ok(text) => drop(headers.insert(name, text.to_owned())),
                // They may be of another program of this host.
                Err(_) if name == "cookie" => {}
                Err(_) => {
                    return Problem::new(400, "bad-header", format!("`{name}` is no plain text")).into();
                }
            }
        }
    }
    let body = match timeout(BODY, Limited::new(body, LONGEST_BODY).collect()).await {
        Ok(Ok(body)) => body.to_bytes().to_vec(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            let problem = format!("a body has at most {} MB", LONGEST_BODY >> 20);
            return Problem::new(413, "too-large", problem).into();
        }
        Ok(Err(_)) => return Problem::new(400, "bad-body", "the body has not come whole").into(),
        Err(_) => return Problem::new(408, "too-slow", "the body has not come in time").into(),
    };
    let request = Request {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers,
        body,
        from: Some(from),
    };
    let app = Arc::clone(app);
    let answered = tokio::task::spawn_blocking(move || app.answer(request)).await;
    answered.unwrap_or_else(|_| busy("the server is about to end").into())
}

/// A body that is whole, or comes piece by piece.
enum Sent {
    Whole(Option<Bytes>),
    Pieces(Pieces),
}

impl hyper::body::Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = |bytes: Bytes| Ok(Frame::data(bytes));
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().filter(|bytes| !bytes.is_empty()).map(frame)),
            Self::Pieces(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| frame(piece.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.as_ref().is_none_or(Bytes::is_empty))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Self::Whole(bytes) => {
                hyper::body::SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            Self::Pieces(_) => hyper::body::SizeHint::default(),
        }
    }
}

fn respond(answer: Answer) -> hyper::Response<Sent> {
    let mut response = hyper::Response::builder().status(answer.status);
    if answer.status != 204 {
        response = response.header("content-type", answer.content_type);
    }
    if !answer.headers.iter().any(|(name, _)| *name == "cache-control") {
        response = response.header("cache-control", "no-store");
    }
    for (name, value) in SECURITY {
        response = response.header(*name, *value);
    }
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    if let Some(seconds) = answer.retry_after {
        response = response.header("retry-after", seconds);
    }
    if let Some(methods) = answer.allow {
        response = response.header("allow", methods);
    }
    if answer.status == 401 {
        response = response.header("www-authenticate", "Bearer");
    }
    if answer.content_type == "text/event-stream" {
        response = response.header("x-accel-buffering", "no"); // nginx would keep events back
    }
    let sent = match answer.body {
        Body::Whole(bytes) => Sent::Whole(Some(bytes.into())),
        Body::Kept(kept) => Sent::Whole(Some(kept.plain().to_vec().into())),
        Body::Pieces(pieces) => Sent::Pieces(pieces),
    };
    response.body(sent).unwrap_or_else(|_| hyper::Response::new(Sent::Whole(None)))
}
