//! What an experiment leaves behind: records of single runs, and the tables and figures made of them.
//!
//! `record` is the only thing kept on disk; everything else is computed from records and can be made again.

pub mod claim;
pub mod html;
pub mod memory;
pub mod plot;
pub mod progress;
pub mod rank_axis;
pub mod record;
pub mod statistics;
pub mod summary;
pub mod surroundings;
pub mod table;
pub mod whole_file;

pub use html::Page;
pub use memory::peak_memory_mb;
pub use plot::{Bar, BarPanel, BarPlot, LinePanel, LinePlot, PlotError, Point, Series};
pub use progress::Progress;
pub use rank_axis::RankAxis;
pub use record::{ReadError, Record};
pub use summary::{Cell, Curve, Summary, mean_curves};
pub use surroundings::Surroundings;
pub use table::Table;
pub use whole_file::write_whole;
