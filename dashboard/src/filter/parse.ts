// The language of constraints and filters, for reports, which have no server: `lr < 1e-3 and state == 'failed'`.
// The guide describes it. A server has the last word; this one is meant to give the same answers, with fewer kinds of errors.

/** A name that is not known: a text if it is compared with one. */
interface Word {
  kind: 'word'
  text: string
  column: number
}

/** A piece of an expression. */
export type Node =
  | { kind: 'literal'; value: number | string | boolean }
  | { kind: 'name'; name: string; column: number }
  | Word
  | { kind: 'not' | 'minus'; of: Node }
  | { kind: 'and' | 'or'; left: Node; right: Node }
  | { kind: 'compare'; first: Node; rest: [string, Node][] }
  | { kind: 'in'; of: Node; choices: Node[]; not: boolean }
  | { kind: 'arithmetic'; operator: string; left: Node; right: Node }
  | { kind: 'call'; name: string; of: Node[] }

/** What a name stands for: a word without quotes is a text only beside one that may be a text. */
export type Type = 'number' | 'text' | 'truth' | 'any'

/** What is wrong with an expression, and where: columns count from 1. */
export class FilterError extends Error {
  override readonly name = 'FilterError'
  readonly column: number

  constructor(column: number, problem: string) {
    super(`column ${column}: ${problem}`)
    this.column = column
  }
}

interface Token {
  kind: 'number' | 'text' | 'name' | 'word' | 'sign' | 'end'
  text: string
  column: number
}

const WORDS = new Set(['and', 'or', 'not', 'in', 'true', 'false'])
const PATTERN =
  /\s+|(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|'([^']*)'|"([^"]*)"|`([^`]*)`|([A-Za-z_][A-Za-z0-9_.]*)|(<=|>=|==|!=|&&|\|\||\*\*|[-+*/%^<>=!()[\],])/y

function tokens(source: string): Token[] {
  const found: Token[] = []
  let at = 0
  while (at < source.length) {
    PATTERN.lastIndex = at
    const match = PATTERN.exec(source)
    const column = at + 1
    if (!match) {
      const sign = source[at] ?? ''
      if (sign === "'" || sign === '"' || sign === '`') throw new FilterError(column, `${sign} is not closed`)
      throw new FilterError(column, `unexpected ${JSON.stringify(sign)}`)
    }
    at = PATTERN.lastIndex
    const [, number, single, double, quoted, name, sign] = match
    if (number !== undefined) found.push({ kind: 'number', text: number, column })
    else if (single !== undefined) found.push({ kind: 'text', text: single, column })
    else if (double !== undefined) found.push({ kind: 'text', text: double, column })
    else if (quoted !== undefined) found.push({ kind: 'name', text: quoted, column })
    else if (name !== undefined) found.push({ kind: WORDS.has(name) ? 'word' : 'name', text: name, column })
    else if (sign !== undefined) found.push({ kind: 'sign', text: sign, column })
  }
  found.push({ kind: 'end', text: 'the end', column: source.length + 1 })
  return found
}

const FUNCTIONS: Record<string, 'one' | 'more'> = {
  min: 'more',
  max: 'more',
  abs: 'one',
  sqrt: 'one',
  exp: 'one',
  ln: 'one',
  log10: 'one',
  floor: 'one',
  ceil: 'one',
  round: 'one',
}
/** How deep parentheses and signs may be nested. */
const DEEPEST = 100

/** Reads an expression; `typeOf` says what a name stands for, if anything. Throws a `FilterError`. */
export function parse(source: string, typeOf: (name: string) => Type | undefined): Node {
  const list = tokens(source)
  let at = 0
  let depth = 0
  const peek = (): Token => list[at] ?? (list.at(-1) as Token)
  const next = (): Token => {
    const token = peek()
    at += 1
    return token
  }
  const take = (...texts: string[]): Token | undefined => {
    const token = peek()
    const fits = (token.kind === 'sign' || token.kind === 'word') && texts.includes(token.text)
    return fits ? next() : undefined
  }
  const expect = (text: string) => {
    if (!take(text)) throw new FilterError(peek().column, `expected \`${text}\`, found ${shown(peek())}`)
  }
  const deeper = <T>(read: () => T): T => {
    depth += 1
    if (depth > DEEPEST) throw new FilterError(peek().column, 'too deeply nested')
    const made = read()
    depth -= 1
    return made
  }

  const known = (node: Node): Node => {
    if (node.kind === 'word') throw new FilterError(node.column, `unknown name \`${node.text}\``)
    return node
  }
  /** A word without quotes is a text beside a name that may be one. */
  const textBeside = (node: Node, sides: Node[]): Node => {
    const text = (side: Node) => side.kind === 'name' && ['text', 'any'].includes(typeOf(side.name) ?? '')
    return node.kind === 'word' && sides.some(text) ? { kind: 'literal', value: node.text } : known(node)
  }

  const either = (): Node => {
    let left = both()
    while (take('or', '||')) left = { kind: 'or', left: known(left), right: known(both()) }
    return left
  }
  const both = (): Node => {
    let left = negated()
    while (take('and', '&&')) left = { kind: 'and', left: known(left), right: known(negated()) }
    return left
  }
  const negated = (): Node => {
    if (take('not')) return deeper(() => ({ kind: 'not', of: known(negated()) }))
    return comparison()
  }
  const comparison = (): Node => {
    const first = sum()
    const not = peek().text === 'not' && peek().kind === 'word' && list[at + 1]?.text === 'in'
    if (not) next()
    if (take('in')) {
      expect('[')
      const choices = listed(']')
      return {
        kind: 'in',
        of: known(first),
        choices: choices.map((choice) => textBeside(choice, [first])),
        not,
      }
    }
    const rest: [string, Node][] = []
    for (;;) {
      const token = take('<', '<=', '>', '>=', '==', '!=', '=')
      if (!token) break
      rest.push([token.text === '=' ? '==' : token.text, sum()])
    }
    if (rest.length === 0) return first
    const sides = [first, ...rest.map(([, side]) => side)]
    return {
      kind: 'compare',
      first: textBeside(first, sides),
      rest: rest.map(([operator, side]) => [operator, textBeside(side, sides)]),
    }
  }
  const listed = (end: string): Node[] => {
    const made: Node[] = []
    while (!take(end)) {
      if (made.length > 0) expect(',')
      made.push(deeper(sum))
    }
    return made
  }
  const sum = (): Node => {
    let left = product()
    for (let token = take('+', '-'); token; token = take('+', '-')) {
      left = { kind: 'arithmetic', operator: token.text, left: known(left), right: known(product()) }
    }
    return left
  }
  const product = (): Node => {
    let left = unary()
    for (let token = take('*', '/', '%'); token; token = take('*', '/', '%')) {
      left = { kind: 'arithmetic', operator: token.text, left: known(left), right: known(unary()) }
    }
    return left
  }
  const unary = (): Node => {
    if (take('-')) return deeper(() => ({ kind: 'minus', of: known(unary()) }))
    if (take('!')) return deeper(() => ({ kind: 'not', of: known(unary()) }))
    const base = primary()
    if (!take('^', '**')) return base
    return deeper(() => ({ kind: 'arithmetic', operator: '^', left: known(base), right: known(unary()) }))
  }
  const primary = (): Node => {
    const token = next()
    if (token.kind === 'number') return { kind: 'literal', value: Number(token.text) }
    if (token.kind === 'text') return { kind: 'literal', value: token.text }
    if (token.text === 'true' || token.text === 'false')
      return { kind: 'literal', value: token.text === 'true' }
    if (token.text === '(' && token.kind === 'sign') {
      const inner = deeper(either)
      expect(')')
      return inner
    }
    if (token.kind !== 'name') throw new FilterError(token.column, `expected a value, found ${shown(token)}`)
    if (peek().kind === 'sign' && peek().text === '(') {
      const takes = FUNCTIONS[token.text]
      if (!takes) throw new FilterError(token.column, `unknown function \`${token.text}\``)
      next()
      const of = listed(')').map(known)
      if (takes === 'one' ? of.length !== 1 : of.length < 2) {
        throw new FilterError(
          token.column,
          `\`${token.text}\` takes ${takes === 'one' ? 'one argument' : 'two or more arguments'}`,
        )
      }
      return { kind: 'call', name: token.text, of }
    }
    if (typeOf(token.text) === undefined) return { kind: 'word', text: token.text, column: token.column }
    return { kind: 'name', name: token.text, column: token.column }
  }

  const made = known(either())
  if (peek().kind !== 'end') throw new FilterError(peek().column, `unexpected ${shown(peek())}`)
  return made
}

const shown = (token: Token): string => (token.kind === 'end' ? token.text : `\`${token.text}\``)
