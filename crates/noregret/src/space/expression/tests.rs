//! The language as a whole: grammar, types, messages, values.

use proptest::prelude::*;

use super::*;
use crate::space::Value;

/// `x` in [-2, 2], `n` in 1..=8, `act`, `width`, `bias`, `mixed`, `learning-rate` in [0, 1].
fn declared() -> (Vec<String>, Vec<Param>) {
    let choices = |values: &[&str]| values.iter().map(|&v| Value::from(v)).collect();
    [
        ("x", Param::Float { low: -2.0, high: 2.0, log: false }),
        ("n", Param::Int { low: 1, high: 8, log: false }),
        ("act", Param::Categorical { choices: choices(&["relu", "tanh"]) }),
        ("width", Param::Ordinal { values: vec![32.into(), 64.into()] }),
        ("bias", Param::Bool {}),
        ("mixed", Param::Categorical { choices: vec!["auto".into(), 3.into()] }),
        ("learning-rate", Param::Float { low: 0.0, high: 1.0, log: false }),
    ]
    .map(|(name, param)| (name.to_owned(), param))
    .into_iter()
    .unzip()
}

/// Truth of `source` at x = 0, n = 3, act = tanh, width = 64, bias = true, mixed = 3, learning-rate = 0.25.
fn holds(source: &str) -> bool {
    let (names, params) = declared();
    let u = [0.5, 0.3125, 0.75, 0.75, 0.75, 0.75, 0.25];
    let expression =
        Expression::compile(source, &names, &params).unwrap_or_else(|e| panic!("{source}: {e:?}"));
    assert_eq!(expression.source(), source);
    expression.holds(&params, &u)
}

fn message(source: &str) -> String {
    let (names, params) = declared();
    let (column, problem) = Expression::compile(source, &names, &params).unwrap_err();
    format!("{column}: {problem}")
}

#[test]
fn true_at_the_example_point() {
    for source in [
        "n == 3",
        "n * width <= 192",
        "1 + 2 * 3 == 7 and (1 + 2) * 3 == 9",
        "2 ^ 3 ^ 2 == 512 and 2 ** -1 == 0.5 and -2 ^ 2 == -4",
        "10 - 4 - 3 == 3 and 16 / 4 / 2 == 2",
        "-7 % 3 == 2 and 7 % -3 == -2 and 6 % 3 == 0",
        "-1 < x < n < 4 <= 4",
        "not (0 < x < 1) && !(0 < x)",
        "not x > 1 and not not bias",
        "bias or x > 1 and x < -1",
        "act == 'tanh' and act != \"relu\" and 'tanh' == act",
        "act in ['relu', 'tanh'] and n not in [1, 2]",
        "n in [1, 2 + 1] and bias in [true]",
        "bias == true and bias",
        "mixed == 3 and mixed != 'auto' and mixed in ['auto', 3]",
        "`learning-rate` == 0.25",
        "min(3, n, 5) == 3 and max(n, 1) == n and abs(-n) == n",
        "sqrt(16) == 4 and exp(0) == 1 and ln(1) == 0 and log10(1000) == 3",
        "floor(2.5) == 2 and ceil(2.5) == 3 and round(2.5) == 3",
        "x == 0 or 1 / x > 0",
        "x <= 0 or ln(x) < 1",
    ] {
        assert!(holds(source), "{source}");
    }
}

#[test]
fn undefined_is_never_satisfied() {
    for source in [
        "sqrt(-1) < 1",
        "not sqrt(-1) < 1",
        "sqrt(-1) != 1",
        "min(sqrt(-1), 1) <= 1",
        "x / x == 1 or bias == false",
        "mixed != sqrt(-1)",
        "sqrt(-1) not in [1, 2]",
        "not (0 / 0 == 0 and bias)",
    ] {
        assert!(!holds(source), "{source}");
    }
    assert!(holds("sqrt(-1) < 1 or bias"));
    assert!(holds("not (sqrt(-1) < 1 and x > 1)"));
}

#[test]
fn messages_give_column_and_remedy() {
    for (source, expected) in [
        ("", "1: expected a number, a parameter, a function, text in quotes, or `(`, not the end"),
        ("n <", "4: expected a number, a parameter, a function, text in quotes, or `(`, not the end"),
        ("n n", "3: expected an operator, not `n`"),
        ("(n < 3", "7: expected `)` or an operator, not the end"),
        ("n < 3)", "6: expected an operator, not `)`"),
        ("n = 3", "3: equality is written =="),
        ("widht < 3", "1: unknown parameter `widht` (nearest known: `width`)"),
        ("x + sqr(n) < 1", "5: unknown function `sqr` (nearest known: `sqrt`)"),
        ("sqrt(x, n) < 1", "1: `sqrt` takes one argument, not 2"),
        ("max() < 1", "1: `max` takes two or more arguments, not 0"),
        ("n * width", "1: a constraint must be true or false, such as `x <= 1`, not a number"),
        ("act", "1: a constraint must be true or false, such as `x <= 1`, not text"),
        ("2 * act < 3", "5: `*` needs a number here, not text"),
        ("1 < act", "5: `<` needs a number here, not text"),
        ("0 < x < bias", "9: `<` needs a number here, not true or false"),
        ("mixed > 3", "1: `>` needs a number here, not a choice of mixed types"),
        ("act == 3", "5: `==` cannot compare text with a number"),
        ("n in [1, 'a']", "10: `in` cannot compare a number with text"),
        ("act == 'rleu'", "8: parameter `act` is never \"rleu\" (nearest choice: \"relu\")"),
        ("n and bias", "1: `and` needs true or false here, not a number"),
        ("not n", "5: `not` needs true or false here, not a number"),
        ("-bias < 1", "2: `-` needs a number here, not true or false"),
        ("n in 3", "6: expected a list such as `[1, 2]`, not `3`"),
        ("n in []", "7: expected a number, a parameter, a function, text in quotes, or `(`, not `]`"),
        ("n not 3", "7: expected `in` or an operator, not `3`"),
        ("[1] == n", "1: expected a number, a parameter, a function, text in quotes, or `(`, not `[`"),
    ] {
        assert_eq!(message(source), expected, "{source}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    assert_eq!(message(&"(".repeat(500)), "65: the expression is nested more than 64 deep");
    assert_eq!(message(&"-".repeat(500)), "65: the expression is nested more than 64 deep");
    assert_eq!(message(&"1^".repeat(400)), "129: the expression is nested more than 64 deep");
    assert!(holds(&format!("0 {} == 400", "+ 1".repeat(400))));
    assert!(message(&"not ".repeat(2000)).contains("more than 1000 words"));
}

proptest! {
    #[test]
    fn parser_never_panics_on_arbitrary_text(source in any::<String>()) {
        let (names, params) = declared();
        let _ = Expression::compile(&source, &names, &params);
    }

    #[test]
    fn words_in_any_order_parse_and_evaluate_without_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "x", "n", "act", "width", "bias", "mixed", "1", "0", "'relu'", "true", "(", ")", "[", "]", ",",
            "+", "-", "*", "/", "%", "^", "<", "<=", ">", "==", "!=", "and", "or", "not", "!", "in", "min", "ln",
        ]), 0..12),
        u in prop::collection::vec(any::<f64>(), 7),
    ) {
        let (names, params) = declared();
        if let Ok(expression) = Expression::compile(&words.join(" "), &names, &params) {
            expression.holds(&params, &u);
        }
    }
}
