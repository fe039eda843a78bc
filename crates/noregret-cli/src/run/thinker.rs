//! Thinking on a thread of its own: meanwhile results are written, time-outs kept and signals heard.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use noregret::study::{Recommendation, RemainingRegret};
use noregret_store::{Draft, SharedStudy, StoreError, Task};

/// What to think about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    /// The next points.
    Points(Task),
    /// What is left to gain.
    Regret,
    /// Which point to use in the end.
    Recommended,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Thought {
    Points(Result<Draft, StoreError>),
    /// Nothing if there is no estimate.
    Regret(Option<RemainingRegret>, Duration),
    Recommended(Result<Option<Recommendation>, StoreError>),
    /// The computation has panicked, and said so on stderr.
    Panicked,
}

/// A thread that thinks about one question at a time.
#[derive(Debug)]
pub(super) struct Thinker {
    /// Until the end.
    questions: Option<Sender<Question>>,
    thread: Option<JoinHandle<()>>,
    is_busy: bool,
}

impl Thinker {
    /// Starts the thread. It keeps its own study, which follows the log, and reports to `hear`.
    pub(super) fn start(
        mut shared: SharedStudy,
        hear: impl Fn(Thought) + Send + 'static,
    ) -> io::Result<Self> {
        let (questions, asked) = mpsc::channel();
        let think = move || {
            for question in asked {
                let answer = catch_unwind(AssertUnwindSafe(|| answer(&mut shared, question)));
                hear(answer.unwrap_or(Thought::Panicked));
            }
        };
        let thread = Some(thread::Builder::new().name("thinking".into()).spawn(think)?);
        Ok(Self { questions: Some(questions), thread, is_busy: false })
    }

    /// Ends the thread and closes its study, unless it thinks: that cannot be stopped.
    pub(super) fn end(&mut self) {
        self.questions = None;
        if let Some(thread) = self.thread.take().filter(|_| !self.is_busy) {
            let _ = thread.join();
        }
    }

    /// Puts a question. Its answer will be heard.
    pub(super) fn ask(&mut self, question: Question) {
        // The thread cannot have ended before `end`.
        self.is_busy = self.questions.as_ref().is_some_and(|thread| thread.send(question).is_ok());
    }

    /// The answer was heard.
    pub(super) fn heard(&mut self) {
        self.is_busy = false;
    }

    /// Whether a question is open.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }
}

fn answer(shared: &mut SharedStudy, question: Question) -> Thought {
    let begin = Instant::now();
    let caught_up = shared.catch_up();
    match question {
        Question::Points(task) => Thought::Points(caught_up.and_then(|_| shared.think(task))),
        Question::Regret => {
            let regret = shared.study().remaining_regret().ok().flatten().filter(|_| caught_up.is_ok());
            Thought::Regret(regret, begin.elapsed())
        }
        Question::Recommended => {
            let recommend = |_| shared.study().recommended().map_err(StoreError::from);
            Thought::Recommended(caught_up.and_then(recommend))
        }
    }
}
