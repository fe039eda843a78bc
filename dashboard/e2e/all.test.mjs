// The page, end to end: the real program, a real Chromium.
//
//   NOREGRET_BINARIES=../target/debug npm run e2e                          the page that is built into the program
//   NOREGRET_BINARIES=../target/debug NOREGRET_PAGE=dist npm run e2e       the page of a folder, for those who work on it
//
// One process, one server and one browser for all: starting them takes longer than most tests.

import { after, before, describe } from 'node:test'
import { accessTests } from './access.mjs'
import { dashboardTests } from './dashboard.mjs'
import { fileTests } from './files.mjs'
import { Stage } from './harness/stage.mjs'
import { liveTests } from './live.mjs'
import { mapTests } from './map.mjs'
import { reportTests } from './report.mjs'
import { tableTests } from './tables.mjs'
import { viewTests } from './views.mjs'
import { writingTests } from './writing.mjs'

/** The longest that a test may take, in milliseconds. */
const LIMIT = 60_000

describe('the page', { timeout: 10 * LIMIT }, () => {
  const stage = {}
  before(async () => Object.assign(stage, { now: await Stage.set() }), { timeout: LIMIT })
  after(() => stage.now?.strike(), { timeout: LIMIT })

  // Each test opens the page anew, as a visitor of its own; what it tells the others find in the studies.
  viewTests(stage)
  liveTests(stage)
  tableTests(stage)
  mapTests(stage)
  fileTests(stage)
  writingTests(stage)
  accessTests(stage)
  dashboardTests(stage)
  reportTests(stage)
})
