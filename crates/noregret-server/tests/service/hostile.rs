//! Bad company: clients that send nonsense, too much, or next to nothing. No panic, no status 500, nothing written.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use noregret_store::MemoryStore;
use serde_json::json;

use crate::server::Server;

/// What the server answers to these bytes, up to its end or a while.
fn say(server: &Server, bytes: &[u8], wait: Duration) -> String {
    let mut stream = TcpStream::connect(server.listening.address).unwrap();
    stream.set_read_timeout(Some(wait)).unwrap();
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn request(server: &Server, line: &str, headers: &str, body: &[u8]) -> String {
    let token = &server.admin;
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    say(server, &[head.as_bytes(), body].concat(), Duration::from_secs(20))
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{answer:?}"))
}

#[test]
fn names_and_paths_play_no_tricks() {
    let server = Server::start();
    server.make("s", json!({}));
    for path in [
        "/api/v1/studies/..%2F..%2Fetc%2Fpasswd",
        "/api/v1/studies/../../../etc/passwd",
        "/api/v1/studies/%00",
        "/api/v1/studies/%ff%fe",
        "/api/v1/studies/s%0d%0aX-Evil:1",
        "/api/v1/studies/'%20OR%201=1--",
        "/api/v1/studies/s/trials/99999999999999999999999",
        "/api/v1/studies/s/trials/18446744073709551615",
        "/api/v1/studies/s/trials?limit=-1",
        "/api/v1/studies/s/trials?limit=1e99",
        "/api/v1/studies/s/trials?from=18446744073709551615",
        "/api/v1/studies/s/log?after=18446744073709551615",
        "/api/v1/studies/s/log?after=18446744073709551614&wait=NaN",
        "/api/v1/studies/s/log?trials_from=5&trials_to=1",
        "/api/v1/studies/s/log?after=18446744073709551615&wait=0.01",
        "//api//v1//studies",
        "/%2e%2e/",
        "/",
    ] {
        let answer = request(&server, &format!("GET {path}"), "", b"");
        let status = status(&answer);
        assert!(status < 500, "{path}: {answer}");
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        assert!(!answer.contains("root:") && !head.contains("x-evil"), "{path}: {answer}");
    }
    for name in ["", " ", "a\nb", "\u{0}", &"x".repeat(10_000)] {
        let file = json!({
            "study": { "name": name }, "objective": { "builtin": "branin" },
        });
        let (status, detail) = crate::server::refusal(server.client().post("/api/v1/studies", &file));
        assert_eq!(status, 422, "{name:?}: {detail}");
    }
    // Names that only look dangerous are names.
    for name in ["../up", "a/b", "a:b:ask", "%2e", "ü 你好", "'; DROP TABLE studies; --"] {
        server.make(name, json!({}));
        let segment = noregret_client::api::segment(name);
        assert_eq!(server.get(&segment)["name"], name);
        assert_eq!(
            server.post(&format!("{segment}/trials:ask"), json!({ "n": 1 }))["trials"][0]["number"],
            0
        );
    }
    let listed = server.client().get::<serde_json::Value>("/api/v1/studies").unwrap();
    assert_eq!(listed["studies"].as_array().unwrap().len(), 7);
}

#[test]
fn bodies_of_any_kind_are_refused_with_a_reason() {
    let server = Server::start();
    server.make("s", json!({}));
    server.post("s/trials:ask", json!({ "n": 1 }));
    let before = server.get("s")["position"].clone();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!("{{\"value\":1,\"attrs\":{{\"a\":{}1{}}}}}", "[".repeat(120), "]".repeat(120));
    let bodies: [&[u8]; 12] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe\x00",
        b"{\"value\":1e999}",
        b"{\"value\":\"NaN\"}",
        b"{\"value\":1,\"value\":2}",
        b"{\"after\":-1,\"entries\":[]}",
        b"{\"after\":1,\"entries\":[[0,{\"told\":{}}]]}",
        deep.as_bytes(),
        nested.as_bytes(),
    ];
    for route in noregret_server::routes().into_iter().filter(|route| route.method == "POST") {
        let path = route.path.replace("{study}", "s").replace("{number}", "0");
        for body in bodies {
            let answer = request(&server, &format!("POST {path}"), "", body);
            let status = status(&answer);
            let start = String::from_utf8_lossy(&body[..body.len().min(60)]);
            assert!(status < 500, "{path} {start}: {answer}");
            // Without a body, some ask for what is usual; who goes needs none.
            assert!(
                status >= 400 || body.is_empty() || path.contains(":archive") || path == "/logout",
                "{path} {start}: {answer}"
            );
        }
    }
    // An archive and an ask without a body are as good as `{}`.
    let after = server.get("s")["position"].as_u64().unwrap();
    assert!(after <= before.as_u64().unwrap() + 6, "{before} to {after}");
}

#[test]
fn a_body_of_a_gigabyte_is_cut_off() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.listening.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let token = &server.admin;
    write!(
        stream,
        "POST /api/v1/studies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 1073741824\r\n\r\n"
    )
    .unwrap();
    let piece = vec![b'x'; 1 << 20];
    let sent = (0..1024).take_while(|_| stream.write_all(&piece).is_ok()).count();
    assert!(sent < 200, "it took {sent} MB");
    let mut answer = [0; 12];
    if stream.read_exact(&mut answer).is_ok() {
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
    assert_eq!(status(&request(&server, "GET /healthz", "", b"")), 200);
}

/// Connections that say next to nothing do not keep others out, and end.
#[test]
fn slow_clients_do_not_keep_others_out() {
    let server = Server::start();
    server.make("s", json!({}));
    let mut slow: Vec<TcpStream> =
        (0..200).map(|_| TcpStream::connect(server.listening.address).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /healthz HTT").unwrap();
    }
    let begin = Instant::now();
    for _ in 0..20 {
        assert_eq!(status(&request(&server, "GET /api/v1/studies", "", b"")), 200);
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    // A head that never ends is too long.
    let mut endless = TcpStream::connect(server.listening.address).unwrap();
    endless.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = endless.write_all(b"GET / HTTP/1.1\r\n");
    let sent = (0..100_000)
        .take_while(|_| endless.write_all(b"X-Header: aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n").is_ok());
    assert!(sent.count() < 90_000);
    thread::sleep(Duration::from_secs(22).saturating_sub(begin.elapsed()));
    let mut rest = [0; 1];
    slow[0].set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let ended = slow[0].read(&mut rest);
    assert!(!matches!(&ended, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock), "{ended:?}");
}

#[test]
fn nonsense_is_no_request() {
    let server = Server::start();
    let token = &server.admin;
    for bytes in [
        b"\x16\x03\x01\x02\x00".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzzz".to_vec(),
        format!("PUT /api/v1/studies HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n").into_bytes(),
        format!("GET /api/v1/studies HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nIdempotency-Key: \t\r\n\r\n").into_bytes(),
    ] {
        let answer = say(&server, &bytes, Duration::from_secs(2));
        assert!(answer.is_empty() || (400..500).contains(&status(&answer)), "{answer}");
    }
    assert_eq!(status(&request(&server, "GET /healthz", "", b"")), 200);
}

/// Who tries tokens is slowed down.
#[test]
fn guessing_tokens_is_slow() {
    let server = Server::with(Arc::new(MemoryStore::default()), tempfile::tempdir().unwrap(), 5.0);
    let statuses: Vec<u16> = (0..80)
        .map(|i| {
            let head = format!(
                "GET /api/v1/studies HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer nr_{i:08x}_guess\r\n\r\n"
            );
            status(&say(&server, head.as_bytes(), Duration::from_secs(5)))
        })
        .collect();
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[79], 429, "{statuses:?}");
    assert_eq!(status(&request(&server, "GET /api/v1/studies", "", b"")), 200, "others are not concerned");
}
