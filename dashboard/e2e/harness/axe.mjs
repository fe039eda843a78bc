// What axe-core finds wrong for people who use a keyboard or a screen reader, or see colors differently.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Serious and critical findings, one a line. */
export async function findings(page) {
  // Evaluated by the debugger: the content security policy of the page does not hold for it.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source)
  const violations = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] })
    return violations.map(({ id, impact, help, nodes }) => ({
      id,
      impact,
      help,
      nodes: nodes.map((node) => `${node.target.join(' ')}: ${node.any[0]?.message ?? node.html}`),
    }))
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, impact, help, nodes }) => `${impact}: ${id}: ${help}\n    ${nodes.slice(0, 5).join('\n    ')}`,
    )
}
