//! From files to a study: its definition, which goes into the log, and its space.

use std::path::{Path, PathBuf};

use noregret::{Space, SpaceError};
use noregret_store::{Definition, SpaceDefinition};

use crate::pool_file;
use crate::study_file::PoolSection;
use crate::{PoolFileError, StudyFile, StudyFileError};

/// Why a study cannot be made, or opened again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefineError {
    /// An invalid study file.
    #[error(transparent)]
    StudyFile(#[from] StudyFileError),
    /// An invalid table of candidates.
    #[error(transparent)]
    PoolFile(#[from] PoolFileError),
    /// An invalid space.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Candidates without a file.
    #[error(
        "the candidates of this study are kept by the Python program that made it: look at it from there"
    )]
    KeptByProgram,
    /// A file that may not be read.
    #[error("the candidates of this study are in {}, a file that may not be read from here", .file.display())]
    NotAllowed {
        /// The file.
        file: PathBuf,
    },
}

/// Which files with candidates may be read.
#[derive(Clone, Copy, Debug)]
pub enum Allowed<'a> {
    /// All that this process may read.
    Any,
    /// Those in one of these folders, or beneath.
    Within(&'a [PathBuf]),
}

impl Allowed<'_> {
    fn check(self, file: &Path) -> Result<(), DefineError> {
        let Self::Within(folders) = self else { return Ok(()) };
        // Links are followed first: a link in an allowed folder may lead anywhere.
        let real = file.canonicalize().ok();
        let is_within = |file: &PathBuf| {
            folders.iter().any(|folder| folder.canonicalize().is_ok_and(|folder| file.starts_with(folder)))
        };
        if real.as_ref().is_some_and(is_within) {
            Ok(())
        } else {
            Err(DefineError::NotAllowed { file: file.into() })
        }
    }
}

/// The definition and the space of a study file in `folder`.
pub fn define(
    file: &StudyFile,
    folder: &Path,
    allowed: Allowed<'_>,
) -> Result<(Definition, Space), DefineError> {
    let (space_definition, space) = match (&file.pool, file.space().map_err(StudyFileError::from)?) {
        (Some(section), _) => pool(section, folder, allowed)?,
        (None, Some(space)) => {
            let parameters = space.params().map(|(name, param)| (name.to_owned(), param.clone())).collect();
            let constraints = file.constraints.iter().map(|(name, rule)| (name.clone(), Some(rule.clone())));
            (SpaceDefinition::Parameters { parameters, constraints: constraints.collect() }, space)
        }
        (None, None) => unreachable!("invariant: a study file has parameters, a pool or a test problem"),
    };
    let definition = Definition {
        version: Definition::VERSION,
        direction: file.study.direction,
        seed: file.study.seed,
        algorithm: file.study.algorithm.0.clone(),
        duplicates: file.study.duplicates,
        trials: file.study.trials.and_then(|n| usize::try_from(n.get()).ok()),
        space: space_definition,
        assignment: None,
    };
    Ok((definition, space))
}

fn pool(
    section: &PoolSection,
    folder: &Path,
    allowed: Allowed<'_>,
) -> Result<(SpaceDefinition, Space), DefineError> {
    let path = folder.join(&section.file);
    allowed.check(&path)?;
    let path = path.canonicalize().unwrap_or(path);
    let pool = pool_file::read(&path, &section.features, section.id.as_deref())?;
    let definition = SpaceDefinition::Pool {
        file: path.display().to_string(),
        features: pool.names().to_vec(),
        id: section.id.clone(),
        rows: pool.len(),
        digest: pool.digest(),
    };
    Ok((definition, Space::pool(pool)))
}

/// The current definition, in case the pool's file has changed, and its space.
pub fn again(definition: &Definition, allowed: Allowed<'_>) -> Result<(Definition, Space), DefineError> {
    match &definition.space {
        SpaceDefinition::Parameters { parameters, constraints } => {
            let rules = constraints.iter().filter_map(|(name, rule)| Some((name.clone(), rule.clone()?)));
            let space = Space::from_params(parameters.clone(), rules)?;
            Ok((definition.clone(), space))
        }
        SpaceDefinition::Pool { file, .. } if file.is_empty() => Err(DefineError::KeptByProgram),
        SpaceDefinition::Pool { file, features, id, .. } => {
            let section = PoolSection { file: file.into(), features: features.clone(), id: id.clone() };
            let (space_definition, space) = pool(&section, Path::new(""), allowed)?;
            Ok((Definition { space: space_definition, ..definition.clone() }, space))
        }
    }
}
