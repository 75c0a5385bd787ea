#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fanscope_fuzz::profile(data));
