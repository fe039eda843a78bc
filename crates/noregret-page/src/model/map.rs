//! Where it is good: what the model expects along one or two parameters.

use noregret::Study;
use noregret_client::views::{MapOf, SurfaceMap};

use super::ViewError;

/// Maps the model; `None` before the first value is told.
pub fn map(_study: &mut Study, _of: &MapOf) -> Result<Option<SurfaceMap>, ViewError> {
    Ok(None)
}
