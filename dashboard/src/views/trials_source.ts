import { signal } from '@preact/signals'
import { ask, studyPath } from '../api/ask.ts'
import { embeddedKeys, fromReport, isReport } from '../api/embedded.ts'
import type { Study, Table, Trial } from '../api/types.ts'
import { type TableOf, tableOf } from '../filter/table.ts'

/** Rows that are asked for at once. */
export const PAGE = 100
/** The most that the server gives at once: for files. */
const MOST = 1000

/** The names of a study's parameters, or of the features of its pool. */
export function parametersOf(study: Study): string[] {
  return 'pool' in study.space ? study.space.pool.features : Object.keys(study.space.parameters.parameters)
}

/** A part of the trials: of the server, or of the data of a report. */
export function askTable(study: Study, wanted: TableOf, abort?: AbortSignal): Promise<Table> {
  if (isReport()) return fromEmbedded(study, wanted)
  return ask<Table>('GET', pathOf(study, wanted), undefined, abort ? { signal: abort } : {})
}

function pathOf(study: Study, wanted: TableOf): string {
  const query = new URLSearchParams()
  if (wanted.filter) query.set('filter', wanted.filter)
  if (wanted.sort) query.set('sort', wanted.sort)
  if (wanted.descending) query.set('descending', 'true')
  query.set('from', String(wanted.from ?? 0))
  query.set('limit', String(wanted.limit ?? PAGE))
  return `${studyPath(study.name)}/views/trials?${query}`
}

/** A report holds its trials as pages of a table: together they are what is filtered and sorted here. */
async function fromEmbedded(study: Study, wanted: TableOf): Promise<Table> {
  const found = embeddedTrials(study.name)
  const made = tableOf(found.trials, parametersOf(study), found.attrs, wanted, study.position)
  return { ...made, total: Math.max(found.total, made.total) }
}

const embedded = new Map<string, { trials: Trial[]; attrs: string[]; total: number }>()

/** All trials that a report has of a study, by number. */
export function embeddedTrials(name: string): { trials: Trial[]; attrs: string[]; total: number } {
  const known = embedded.get(name)
  if (known) return known
  const prefix = `GET ${studyPath(name)}/views/trials`
  const tables = embeddedKeys()
    .filter((key) => key.startsWith(prefix))
    .map((key) => fromReport('GET', key.slice('GET '.length))?.answer as Table)
  const byNumber = new Map(tables.flatMap((table) => table.trials.map((trial) => [trial.number, trial])))
  const made = {
    trials: [...byNumber.values()].sort((a, b) => a.number - b.number),
    attrs: [...new Set(tables.flatMap((table) => table.attrs))],
    total: Math.max(0, ...tables.map((table) => table.total)),
  }
  embedded.set(name, made)
  return made
}

/** Pages of a table that are there, for a window over it. */
export class Pages {
  readonly matching = signal<number | undefined>(undefined)
  readonly total = signal(0)
  readonly attrs = signal<string[]>([])
  readonly error = signal<Error | undefined>(undefined)
  /** Counts up when rows have come: read it where rows are drawn. */
  readonly version = signal(0)
  private readonly study: Study
  private readonly wanted: TableOf
  private readonly pages = new Map<number, Trial[]>()
  private readonly asked = new Map<number, AbortController>()
  /** Pages from before something happened: shown until the new ones are there. */
  private old = new Set<number>()
  private position = 0
  /** Counts what happened: an answer that was asked for before is old when it comes. */
  private happened = 0

  constructor(study: Study, wanted: TableOf) {
    this.study = study
    this.wanted = wanted
  }

  /** The trial in a row; undefined while it is not there. */
  row(i: number): Trial | undefined {
    return this.pages.get(Math.floor(i / PAGE))?.[i % PAGE]
  }

  /** Asks for what is missing of some rows. Pages that nobody sees any more are not waited for. */
  want(first: number, last: number): void {
    const [from, to] = [Math.floor(Math.max(first, 0) / PAGE), Math.floor(Math.max(last, 0) / PAGE)]
    for (const [page, abort] of this.asked) {
      if (page < from || page > to) {
        abort.abort()
        this.asked.delete(page)
      }
    }
    for (let page = from; page <= to; page += 1) {
      const beyond =
        this.matching.peek() !== undefined && page > 0 && page * PAGE >= (this.matching.peek() ?? 0)
      if (beyond || this.asked.has(page) || (this.pages.has(page) && !this.old.has(page))) continue
      void this.load(page)
    }
  }

  /** Something happened: what is seen is asked for again, the rest when it is seen. */
  age(): void {
    this.happened += 1
    this.old = new Set(this.pages.keys())
  }

  close(): void {
    for (const abort of this.asked.values()) abort.abort()
    this.asked.clear()
  }

  private async load(page: number): Promise<void> {
    const abort = new AbortController()
    this.asked.set(page, abort)
    const before = this.happened
    let again = false
    try {
      const table = await askTable(
        this.study,
        { ...this.wanted, from: page * PAGE, limit: PAGE },
        abort.signal,
      )
      if (abort.signal.aborted) return
      this.pages.set(page, table.trials)
      again = before !== this.happened
      if (!again) this.old.delete(page)
      // An answer that is older than another may come later.
      if (table.position >= this.position) {
        this.position = table.position
        this.matching.value = table.matching
        this.total.value = table.total
        if (table.attrs.join('\n') !== this.attrs.peek().join('\n')) this.attrs.value = table.attrs
      }
      this.error.value = undefined
      this.version.value += 1
    } catch (error) {
      if (!abort.signal.aborted) this.error.value = error as Error
    } finally {
      if (this.asked.get(page) === abort) this.asked.delete(page)
      if (again && !abort.signal.aborted) void this.load(page)
    }
  }
}

/** All rows of a table, for a file. */
export async function allRows(study: Study, wanted: TableOf): Promise<Table> {
  const trials: Trial[] = []
  for (;;) {
    const table = await askTable(study, { ...wanted, from: trials.length, limit: MOST })
    trials.push(...table.trials)
    if (table.trials.length === 0 || trials.length >= table.matching) return { ...table, from: 0, trials }
  }
}
