// A test with a visitor.

import { test } from 'node:test'

/** The longest that a test may take, in milliseconds. */
const LIMIT = 60_000

/**
 * A test in which somebody with a role looks at the page; it fails, too, if the page has a fault that was not expected. `options` are those
 * of a visitor.
 */
export function visit(name, stage, { role = 'admin', ...options }, body) {
  test(name, { timeout: LIMIT }, async () => {
    const visitor = await stage.now.visitor(role, options)
    try {
      await body(visitor, visitor.page)
      visitor.check()
    } catch (error) {
      if (visitor.faults.length > 0) error.message += `\nfaults of the page:\n${visitor.faults.join('\n')}`
      throw error
    } finally {
      await visitor.close()
    }
  })
}
