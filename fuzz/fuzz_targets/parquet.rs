#![no_main]
// Panics of the parquet crate are caught by the reader, which makes errors of them: those that are not caught abort. (libFuzzer's
// own hook would abort before.)
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |bytes: &[u8]| noregret_cli::fuzzing::parquet_pool(bytes)
);
