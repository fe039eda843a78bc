//! In which variants the experiment of a paper may be run.

use crate::BenchError;
use crate::Options;

/// A variant of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// As printed.
    Paper,
    /// As the authors' code.
    Code,
    /// As our users get it.
    Ours,
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Code, Self::Ours];

    /// The one that the options name, or else `default`.
    pub(crate) fn of(options: &Options, default: Self) -> Result<Self, BenchError> {
        if options.setting.is_none() {
            return Ok(default);
        }
        let named = options.setting_among(&Self::ALL.map(Self::name))?;
        Ok(Self::ALL.into_iter().find(|setting| setting.name() == named).unwrap_or(default))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Code => "code",
            Self::Ours => "ours",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_known_by_name() {
        let of = |name: Option<&str>| {
            Setting::of(&Options { setting: name.map(str::to_owned), ..Options::default() }, Setting::Ours)
        };
        for setting in Setting::ALL {
            assert_eq!(of(Some(setting.name())).unwrap(), setting);
        }
        assert_eq!(of(None).unwrap(), Setting::Ours);
        let error = of(Some("printed")).unwrap_err();
        assert!(error.is_usage());
        assert_eq!(error.to_string(), "unknown setting `printed`; known are: paper, code, ours");
    }
}
