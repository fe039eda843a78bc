//! Where, when and how results were made.

use noregret_store::Timestamp;

/// What a reader needs to know in order to make the same again.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The command, quoted for a shell where it must be.
    pub command: String,
    /// Day and minute, UTC.
    pub date: String,
    /// Model of the processor and how many of its cores may be used.
    pub machine: String,
}

impl Surroundings {
    /// Those of this process.
    pub fn here() -> Self {
        let mut arguments = std::env::args();
        let program = arguments.next().unwrap_or_default();
        let program = program.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let words: Vec<String> =
            std::iter::once(program).chain(arguments).map(|word| quoted(&word)).collect();
        let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model_of(&text));
        let model = model.unwrap_or_else(|| format!("{} ({})", std::env::consts::ARCH, std::env::consts::OS));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            command: words.join(" "),
            date: minute_of(Timestamp::now().0 / 60_000),
            machine: format!("{model}, {cores} core{}", if cores == 1 { "" } else { "s" }),
        }
    }
}

fn model_of(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// `2026-11-16 13:05 UTC`, from minutes since 1970; the day by Hinnant's `civil_from_days` (2013), for years from 1970 on.
fn minute_of(minutes: i64) -> String {
    let (days, minute) = (minutes.div_euclid(1_440), minutes.rem_euclid(1_440));
    // Years begin in March, so that the day that is sometimes missing is their last; eras of 400 years are all alike.
    let z = days + 719_468;
    let (era, day) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + 400 * era + later;
    format!("{year}-{month:02}-{of_month:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d @SECONDS`.
    #[test]
    fn dates_by_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(minute_of(seconds / 60), date);
        }
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("--runs=4"), "--runs=4");
        assert_eq!(
            (quoted("a b").as_str(), quoted("it's").as_str(), quoted("").as_str()),
            ("'a b'", r"'it'\''s'", "''")
        );
    }

    #[test]
    fn the_model_of_the_processor() {
        assert_eq!(
            model_of("processor\t: 0\nmodel name\t: AMD EPYC 7B13\n").as_deref(),
            Some("AMD EPYC 7B13")
        );
        assert!(model_of("Hardware : board\n").is_none());
        assert!(Surroundings::here().machine.contains("core"));
    }
}
