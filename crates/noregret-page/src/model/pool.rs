//! Candidates of a pool on a plane.

use noregret::Study;
use noregret_client::views::PoolPlane;

/// The two principal components of the pool's features; `None` if the space is not a pool.
pub fn pool(_study: &mut Study) -> Result<Option<PoolPlane>, noregret::Error> {
    Ok(None)
}
