import type { Node } from './parse.ts'

/** A value in an expression; undefined is one that is not there, which fits no comparison. */
export type Scalar = number | string | boolean | null | undefined

/** Whether an expression holds for what `of` knows by name. What is undefined satisfies no comparison, with or without `not`. */
export function holds(node: Node, of: (name: string) => Scalar): boolean {
  return truth(node, of) === true
}

/** True, false, or undefined where a number is. */
function truth(node: Node, of: (name: string) => Scalar): boolean | undefined {
  switch (node.kind) {
    case 'and': {
      const [left, right] = [truth(node.left, of), truth(node.right, of)]
      return left === false || right === false ? false : left && right
    }
    case 'or': {
      const [left, right] = [truth(node.left, of), truth(node.right, of)]
      return left || right ? true : left === undefined || right === undefined ? undefined : false
    }
    case 'not': {
      const value = truth(node.of, of)
      return value === undefined ? undefined : !value
    }
    case 'compare': {
      let left = scalar(node.first, of)
      let all: boolean | undefined = true
      for (const [operator, side] of node.rest) {
        const right = scalar(side, of)
        const fits = compared(operator, left, right)
        if (fits === false) all = false
        else if (fits === undefined && all) all = undefined
        left = right
      }
      return all
    }
    case 'in': {
      const value = scalar(node.of, of)
      if (isNothing(value)) return undefined
      const found = node.choices.some((choice) => scalar(choice, of) === value)
      return node.not ? !found : found
    }
    default: {
      const value = scalar(node, of)
      return typeof value === 'boolean' ? value : undefined
    }
  }
}

function compared(operator: string, left: Scalar, right: Scalar): boolean | undefined {
  if (isNothing(left) || isNothing(right)) return undefined
  if (operator === '==') return left === right
  if (operator === '!=') return left !== right
  if (typeof left !== typeof right || typeof left === 'boolean') return undefined
  const [a, b] = [left as number | string, right as number | string]
  if (operator === '<') return a < b
  if (operator === '<=') return a <= b
  return operator === '>' ? a > b : a >= b
}

const isNothing = (value: Scalar): boolean =>
  value === undefined || value === null || (typeof value === 'number' && Number.isNaN(value))

function scalar(node: Node, of: (name: string) => Scalar): Scalar {
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'word':
      return node.text
    case 'name':
      return of(node.name)
    case 'minus': {
      const value = numberIn(node.of, of)
      return value === undefined ? undefined : -value
    }
    case 'arithmetic': {
      const [a, b] = [numberIn(node.left, of), numberIn(node.right, of)]
      return a === undefined || b === undefined ? undefined : calculated(node.operator, a, b)
    }
    case 'call': {
      const values = node.of.map((item) => numberIn(item, of))
      if (values.includes(undefined)) return undefined
      return called(node.name, values as number[])
    }
    default:
      return truth(node, of)
  }
}

function numberIn(node: Node, of: (name: string) => Scalar): number | undefined {
  const value = scalar(node, of)
  return typeof value === 'number' ? value : undefined
}

function calculated(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      return a / b
    case '%':
      return a - b * Math.floor(a / b) // the sign of the divisor
    default:
      return a ** b
  }
}

function called(name: string, values: number[]): number {
  const [value = Number.NaN] = values
  switch (name) {
    case 'min':
      return Math.min(...values)
    case 'max':
      return Math.max(...values)
    case 'abs':
      return Math.abs(value)
    case 'sqrt':
      return Math.sqrt(value)
    case 'exp':
      return Math.exp(value)
    case 'ln':
      return Math.log(value)
    case 'log10':
      return Math.log10(value)
    case 'floor':
      return Math.floor(value)
    case 'ceil':
      return Math.ceil(value)
    default:
      return Math.sign(value) * Math.round(Math.abs(value)) // halves away from zero
  }
}
