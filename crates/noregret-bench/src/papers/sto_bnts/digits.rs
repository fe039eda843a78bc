//! Handwritten digits and a score for each: the probability that a classifier gives to class 0 (App. F.4).
//!
//! The classifier is a softmax regression, trained on every second image by plain stochastic gradients; the other images are the
//! pool. The paper's is a convolutional network, whose scores are likely sharper; what matters to the experiment is that similar
//! images have similar scores and that images of 0 have the highest.

use std::path::Path;

use noregret::math::rng::{Purpose, Seed};
use rand::RngExt;

use crate::BenchError;
use crate::harness::data_table;

/// Pixels of an image, 28 x 28.
const PIXELS: usize = 784;
const CLASSES: usize = 10;
/// Of the training: passes over the images, images to a step, and its length. Two passes are right for 89 % of the other images and 20
/// for 91 %, but then one image in 15 has a score above 0.99, now one in 50: a search would soon have nothing left to find.
const EPOCHS: usize = 2;
const BATCH: usize = 25;
const RATE: f64 = 0.1;

/// The images of the pool.
#[derive(Debug)]
pub(super) struct Digits {
    /// Row by row, from 0 to 1.
    pub(super) images: Vec<f32>,
    pub(super) pixels: usize,
    /// Probability of class 0.
    pub(super) scores: Vec<f64>,
}

/// The pool from `digits.csv` in the folder `data`.
pub(super) fn scored(data: &Path) -> Result<Digits, BenchError> {
    let path = data.join("digits.csv");
    let table = data_table::read(&path, PIXELS)?.ok_or(BenchError::NoData { name: "digits", path })?;
    let images: Vec<f32> = table.features.iter().map(|v| unit(*v)).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "classes are 0 to 9")]
    let classes: Vec<usize> = table.target.iter().map(|class| *class as usize % CLASSES).collect();
    Ok(split(&images, &classes, PIXELS, EPOCHS))
}

/// Grey values are whole numbers from 0 to 255.
#[expect(clippy::cast_possible_truncation, reason = "grey values need 8 bits")]
fn unit(grey: f64) -> f32 {
    (grey / 255.0) as f32
}

/// Trains on the even images and scores the odd ones.
fn split(images: &[f32], classes: &[usize], pixels: usize, epochs: usize) -> Digits {
    let all = || images.chunks_exact(pixels).zip(classes.iter().copied());
    let training: Vec<(&[f32], usize)> = all().step_by(2).collect();
    let classifier = Classifier::trained(&training, pixels, epochs);
    let pool: Vec<&[f32]> = all().skip(1).step_by(2).map(|(image, _)| image).collect();
    let scores = pool.iter().map(|image| classifier.probabilities(image)[0]).collect();
    Digits { images: pool.concat(), pixels, scores }
}

/// A softmax regression.
struct Classifier {
    pixels: usize,
    /// A row of weights for each class.
    weights: Vec<f64>,
    biases: [f64; CLASSES],
}

impl Classifier {
    fn trained(images: &[(&[f32], usize)], pixels: usize, epochs: usize) -> Self {
        let mut classifier = Self { pixels, weights: vec![0.0; CLASSES * pixels], biases: [0.0; CLASSES] };
        let mut order: Vec<usize> = (0..images.len()).collect();
        for epoch in 0..epochs {
            // Fisher & Yates.
            let mut rng = Seed(0).stream(Purpose::Experiment, epoch as u64, 0);
            (1..order.len()).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
            for batch in order.chunks(BATCH) {
                // All slopes before the first change.
                let slopes: Vec<[f64; CLASSES]> = batch
                    .iter()
                    .map(|&i| {
                        let (image, class) = images[i];
                        let mut slopes = classifier.probabilities(image);
                        slopes[class] -= 1.0;
                        slopes
                    })
                    .collect();
                for (&i, slopes) in batch.iter().zip(&slopes) {
                    classifier.step(images[i].0, slopes, RATE / batch.len() as f64);
                }
            }
        }
        classifier
    }

    fn step(&mut self, image: &[f32], slopes: &[f64; CLASSES], rate: f64) {
        for (class, (row, slope)) in self.weights.chunks_exact_mut(self.pixels).zip(slopes).enumerate() {
            let step = rate * slope;
            self.biases[class] -= step;
            row.iter_mut().zip(image).for_each(|(weight, x)| *weight -= step * f64::from(*x));
        }
    }

    fn probabilities(&self, image: &[f32]) -> [f64; CLASSES] {
        let mut logits = self.biases;
        for (logit, row) in logits.iter_mut().zip(self.weights.chunks_exact(self.pixels)) {
            *logit += row.iter().zip(image).map(|(weight, x)| weight * f64::from(*x)).sum::<f64>();
        }
        let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares = logits.map(|logit| (logit - largest).exp());
        let sum: f64 = shares.iter().sum();
        shares.map(|share| share / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten classes of images, each with a bright pixel of its own, and noise.
    #[test]
    fn images_of_class_0_score_highest() {
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        let pixels = 12;
        let classes: Vec<usize> = (0..400).map(|_| rng.random_range(0..CLASSES)).collect();
        let mut images: Vec<f32> = (0..400 * pixels).map(|_| 0.3 * rng.random::<f32>()).collect();
        for (i, class) in classes.iter().enumerate() {
            images[i * pixels + class] += 0.7;
        }
        let digits = split(&images, &classes, pixels, 20);
        assert_eq!((digits.scores.len(), digits.images.len()), (200, 200 * pixels));
        assert_eq!(digits.images[..pixels], images[pixels..2 * pixels]);
        let scores = |zero: bool| {
            let pool = digits.scores.iter().zip(classes.iter().skip(1).step_by(2));
            pool.filter(move |(_, class)| (**class == 0) == zero).map(|(score, _)| *score)
        };
        let (lowest, highest) = (scores(true).fold(1.0, f64::min), scores(false).fold(0.0, f64::max));
        assert!(lowest > highest, "{lowest} {highest}");
    }
}
