// What matters, in words.

import type { Importance, ImportanceOf } from '../api/types.ts'
import { percent } from '../words/numbers.ts'

/** Below this share a parameter is called one without effect, if its interval agrees. */
const NOTHING = 0.02

/** Below this share parameters are said to hardly interact. */
const HARDLY = 0.05

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** The most important parameters, and those that seem to do nothing. */
export function inWords({ parameters }: Importance): string {
  const [first, ...rest] = parameters
  if (!first) return 'There are no parameters.'
  const idle = parameters.filter(({ total }) => total.high < NOTHING * 2 && total.share < NOTHING)
  if (idle.length === parameters.length) return 'No parameter has an effect that the model could see so far.'
  const next = rest.find(({ total }) => total.share >= 0.1)
  const sentences = [
    `${first.name} matters most: with its interactions it explains ${percent(first.total.share)} of how the objective varies.`,
  ]
  if (next) sentences.push(`Then comes ${next.name} with ${percent(next.total.share)}${unsure(first, next)}.`)
  if (idle.length > 0)
    sentences.push(
      `${listed(idle.map(({ name }) => name))} ${idle.length === 1 ? 'seems' : 'seem'} to do nothing; ${
        idle.length === 1 ? 'it' : 'they'
      } could be fixed.`,
    )
  return sentences.join(' ')
}

/** Which of two matters more is open where their intervals overlap much. */
function unsure(first: ImportanceOf, second: ImportanceOf): string {
  return second.total.high > first.total.share && first.total.low < second.total.share
    ? '; which of the two matters more is not certain yet'
    : ''
}

/** What is left to interactions, and what that means. */
export function interactionsText({ interactions, parameters }: Importance): string {
  if (parameters.length < 2) return ''
  const share = Math.min(1, Math.max(0, interactions))
  if (share < HARDLY) {
    return 'Parameters hardly interact: what is best for one does not depend on the others, and each can be thought about alone.'
  }
  const most = interacting(parameters)
  const who = most.length > 1 ? ` Most of it concerns ${listed(most)}.` : ''
  const much = share < 0.2 ? 'A small part' : share < 0.5 ? 'A good part' : 'Most'
  return `${much} of the variation, ${percent(share)}, is left to interactions: there, what is best for one parameter depends on others.${who}`
}

/** The two parameters that a map should show: those that interact most, or else those that matter most. */
export function pairOf({ interactions, parameters }: Importance): string[] {
  const most = interactions < HARDLY ? [] : interacting(parameters)
  return most.length === 2 ? most : parameters.slice(0, 2).map(({ name }) => name)
}

/** The two whose interactions have the largest shares, as far as they have any. */
const interacting = (parameters: ImportanceOf[]): string[] =>
  [...parameters]
    .sort((a, b) => gap(b) - gap(a))
    .filter((one) => gap(one) > 0.03)
    .slice(0, 2)
    .map(({ name }) => name)

const gap = ({ first, total }: ImportanceOf): number => total.share - first.share
