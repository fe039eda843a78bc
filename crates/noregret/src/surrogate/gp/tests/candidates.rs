//! Candidates that follow the model.

use super::*;

#[test]
fn followed_candidates_are_solved_ones() {
    let mut gp = model(mixed_kernel(), 3, 20);
    let at = random_points(3, 300, &mut stream(5));
    let mut candidates = Candidates::new(&gp, at.clone());
    let mut rng = stream(6);
    for round in 0..6 {
        let x: Vec<f64> = (0..3).map(|_| rng.random()).collect();
        if round % 2 == 0 {
            gp.append(&x, objective(&x), 1e-3);
        } else {
            gp.condition(&x, 1e-3);
        }
        candidates.follow(&gp);
        let fresh = Candidates::new(&gp, at.clone());
        let kept = |c: &Candidates| Marginals { mean: c.mean().to_vec(), variance: c.variance().to_vec() };
        assert_close(&kept(&candidates), &kept(&fresh), 1e-10);
    }
    gp.release();
    candidates.follow(&gp);
    let exact = gp.marginals(&at);
    assert!(candidates.variance().iter().zip(&exact.variance).all(|(a, b)| (a - b).abs() < 1e-10));
}
