//! A network that misbehaves: a TCP proxy on this machine that cuts connections and delays what it passes on.
#![expect(clippy::unwrap_used, reason = "for tests: whatever goes wrong should panic")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Passes everything on to one address, until it is told not to.
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    ends: AtomicBool,
    /// Every so many answers, one is lost, with its connection; 0 for never.
    loses_every: AtomicUsize,
    /// Answers so far.
    answers: AtomicUsize,
    /// Connections that were cut with an answer in them.
    cuts: AtomicUsize,
    delay: Mutex<Duration>,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Listens on a port of this machine, and passes on to `to`.
    pub fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.ends.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(server) = TcpStream::connect(to) else { continue };
                shared.pass(client, server);
            }
        });
        Self { port, state }
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on every `n`th answer is lost: it was given, and the connection is cut before it arrives. 0 ends this.
    pub fn lose_every(&self, n: usize) {
        self.state.loses_every.store(n, Ordering::SeqCst);
    }

    /// From now on every answer comes later by this.
    pub fn delay(&self, by: Duration) {
        *self.state.delay.lock().unwrap() = by;
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        for stream in self.state.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// How many answers were lost.
    pub fn lost(&self) -> usize {
        self.state.cuts.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.ends.store(true, Ordering::SeqCst);
        self.cut();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl State {
    fn pass(self: &Arc<Self>, client: TcpStream, server: TcpStream) {
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let copies = [&client, &server].map(|stream| stream.try_clone().unwrap());
        self.open.lock().unwrap().extend(copies);
        let (from_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || copy(from_client, to_server, || true));
        let state = Arc::clone(self);
        thread::spawn(move || copy(server, client, || state.lets_through()));
    }

    fn lets_through(&self) -> bool {
        let delay = *self.delay.lock().unwrap();
        thread::sleep(delay);
        let answers = self.answers.fetch_add(1, Ordering::SeqCst) + 1;
        let every = self.loses_every.load(Ordering::SeqCst);
        let lost = every > 0 && answers.is_multiple_of(every);
        if lost {
            self.cuts.fetch_add(1, Ordering::SeqCst);
        }
        !lost
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, lets_through: impl Fn() -> bool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !lets_through() || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
