#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| noregret_cli::fuzzing::request(bytes));
