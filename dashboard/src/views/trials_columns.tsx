import type { ComponentChildren } from 'preact'
import type { Study, Trial } from '../api/types.ts'
import { studyLink } from '../app/router.ts'
import type { Cell } from '../export/csv.ts'
import { State } from '../parts/state.tsx'
import { Ago } from '../parts/time.tsx'
import { number, valueText } from '../words/numbers.ts'
import { duration } from '../words/times.ts'
import { parametersOf } from './trials_source.ts'

/** A column of the table of trials. */
export interface Column {
  /** What it is called, in the address and in filters. */
  name: string
  /** Its width, in pixels. */
  width: number
  /** Whether its cells are numbers, which stand to the right. */
  right: boolean
  /** Whether the server can sort by it. */
  sortable: boolean
  /** Whether it takes the room that is left over: long texts. */
  grows?: boolean
  cell: (trial: Trial) => ComponentChildren
  /** The same for a file, with all digits. */
  plain: (trial: Trial) => Cell
}

/** Parameters that are shown unless the reader chooses. */
const FIRST = 8

/** All columns that a study has, in order. */
export function columnsOf(study: Study, attrs: string[]): Column[] {
  const id: Column[] = 'pool' in study.space ? [text('id', 150, (trial) => trial.id)] : []
  return [
    {
      name: 'number',
      width: 96,
      right: true,
      sortable: true,
      cell: (trial) => <a href={studyLink(study.name, `trial/${trial.number}`)}>{trial.number}</a>,
      plain: (trial) => trial.number,
    },
    {
      name: 'state',
      width: 112,
      right: false,
      sortable: true,
      cell: (trial) => <State state={trial.state} />,
      plain: (trial) => trial.state,
    },
    {
      name: 'value',
      width: 98,
      right: true,
      sortable: true,
      cell: (trial) => <strong>{trial.value === null ? '' : number(trial.value, 5)}</strong>,
      plain: (trial) => trial.value,
    },
    ...id,
    ...parametersOf(study).map((name) => parameter(study, name)),
    ...attrs.map((name) => attribute(name)),
    {
      name: 'seconds',
      width: 98,
      right: true,
      sortable: true,
      cell: (trial) => (trial.seconds === null ? '' : duration(trial.seconds)),
      plain: (trial) => trial.seconds,
    },
    text('worker', 120, (trial) => trial.worker),
    {
      name: 'attempts',
      width: 104,
      right: true,
      sortable: true,
      cell: (trial) => trial.attempts,
      plain: (trial) => trial.attempts,
    },
    { ...text('reason', 240, (trial) => trial.reason), grows: true },
    { ...text('note', 200, (trial) => trial.note), sortable: false, grows: true },
    moment('asked', (trial) => trial.asked),
    moment('started', (trial) => trial.started),
    moment('ended', (trial) => trial.ended),
  ]
}

/** The columns that are shown unless the reader chooses: why trials failed, where the filter asks for failures. */
export function usualColumns(study: Study, filter = ''): string[] {
  const parameters = parametersOf(study).slice(0, FIRST)
  const id = 'pool' in study.space ? ['id'] : []
  const reason = /\b(failed|reason)\b/.test(filter) ? ['reason'] : []
  const note = /\bnote\b/.test(filter) ? ['note'] : []
  const value = /^\s*state\s*==?\s*'?failed'?\s*$/.test(filter) ? [] : ['value']
  return ['number', 'state', ...reason, ...value, ...note, ...id, ...parameters, 'seconds', 'worker']
}

function parameter(study: Study, name: string): Column {
  const declared = 'parameters' in study.space ? study.space.parameters.parameters[name] : undefined
  const right =
    declared === undefined ||
    declared.type === 'float' ||
    declared.type === 'int' ||
    declared.type === 'ordinal'
  return {
    name,
    width: Math.max(102, 34 + 7.8 * Math.min(name.length, 20)),
    right,
    sortable: true,
    cell: (trial) => valueText(trial.params[name]),
    plain: (trial) => trial.params[name],
  }
}

function attribute(name: string): Column {
  return {
    name,
    width: Math.max(110, 30 + 8.5 * Math.min(name.length, 20)),
    right: true,
    sortable: true,
    cell: (trial) => (trial.attrs[name] === undefined ? '' : valueText(trial.attrs[name])),
    plain: (trial) => {
      const value = trial.attrs[name]
      return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
    },
  }
}

function text(name: string, width: number, of: (trial: Trial) => string | null | undefined): Column {
  return {
    name,
    width,
    right: false,
    sortable: true,
    cell: (trial) => <span title={of(trial) ?? ''}>{of(trial) ?? ''}</span>,
    plain: of,
  }
}

function moment(name: string, of: (trial: Trial) => string | null): Column {
  return {
    name,
    width: 120,
    right: false,
    sortable: false,
    cell: (trial) => (of(trial) === null ? '' : <Ago time={of(trial)} />),
    plain: of,
  }
}
