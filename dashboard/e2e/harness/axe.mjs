// What axe-core finds wrong for people who use a keyboard or a screen reader, or see colors differently.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Rules about colors: all that can change between light and dark. */
export const COLORS = ['color-contrast', 'link-in-text-block']

/** Serious and critical findings, one a line; of some rules, if they are named. */
export async function findings(page, rules) {
  // Evaluated by the debugger: the content security policy of the page does not hold for it.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source)
  const violations = await page.evaluate(async (rules) => {
    const some = rules ? { runOnly: rules } : {}
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'], ...some })
    return violations.map(({ id, impact, help, nodes }) => ({
      id,
      impact,
      help,
      nodes: nodes.map((node) => `${node.target.join(' ')}: ${node.any[0]?.message ?? node.html}`),
    }))
  }, rules)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, impact, help, nodes }) => `${impact}: ${id}: ${help}\n    ${nodes.slice(0, 5).join('\n    ')}`,
    )
}
