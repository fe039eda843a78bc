//! How much memory a process has needed.

/// The high-water mark of a process's memory, where `/proc` tells; `None` stands for this process.
pub fn peak_memory_mb(process: Option<u32>) -> Option<f64> {
    let process = process.map_or("self".into(), |id| id.to_string());
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}
