import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { Problem } from '../api/ask.ts'
import type { Study } from '../api/types.ts'
import { go, route, setQuery, studyLink } from '../app/router.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { csv } from '../export/csv.ts'
import { FilterError } from '../filter/parse.ts'
import type { TableOf } from '../filter/table.ts'
import { Choice } from '../parts/choice.tsx'
import { View } from '../parts/view.tsx'
import { WindowTable } from '../parts/window_table.tsx'
import { count, counted } from '../words/numbers.ts'
import { ColumnMenu } from './trials_column_menu.tsx'
import { columnsOf, usualColumns } from './trials_columns.tsx'
import { FilterBox } from './trials_filter.tsx'
import { allRows, Pages } from './trials_source.ts'

const STATES: [string, string][] = [
  ['', 'All'],
  ["state == 'complete'", 'Complete'],
  ["state == 'failed'", 'Failed'],
  ["state == 'running'", 'Running'],
]

/** The table of all trials. */
export function Trials({ study, open }: StudyViewProps) {
  const { query } = route.value
  const filter = query.get('filter') ?? ''
  const sort = query.get('sort') ?? 'number'
  const descending = query.get('descending') === 'true'
  // Without a filter and an order the newest come first: one looks at what just happened.
  const newest = query.get('sort') === null
  const wanted: TableOf = useMemo(
    () => ({ filter, sort, descending: newest || descending }),
    [filter, sort, descending, newest],
  )
  const pages = useMemo(() => new Pages(study, wanted), [study.name, wanted])
  const [range, setRange] = useState<[number, number]>([0, 40])
  const seen = useCallback((first: number, last: number) => setRange([first, last]), [])

  useEffect(() => () => pages.close(), [pages])
  // A moment's rest: who scrolls far does not need what is on the way.
  useEffect(() => {
    const timer = setTimeout(() => pages.want(...range), pages.matching.peek() === undefined ? 0 : 50)
    return () => clearTimeout(timer)
  }, [pages, range])
  const beat = open.beat.value
  useEffect(() => {
    // A wrong filter stays wrong, whatever happens.
    const { value } = pages.error
    if (value && isAboutFilter(value)) return
    pages.age()
    pages.want(...range)
  }, [beat])

  const matching = pages.matching.value
  const error = pages.error.value
  const attrs = pages.attrs.value
  const columns = useMemo(() => columnsOf(study, attrs), [study.space, study.name, attrs])
  const own = query.get('columns')?.split(',')
  const names = own ?? usualColumns(study, filter)
  // The usual ones have an order of their own: reasons stand where they are seen.
  const shown = own
    ? columns.filter((column) => own.includes(column.name))
    : names.flatMap((name) => columns.find((column) => column.name === name) ?? [])
  void pages.version.value

  const refused = error !== undefined && isAboutFilter(error)
  const total = Math.max(pages.total.value, 0)
  const file = () => tableFile(study, wanted, names)
  return (
    <View
      title="Trials"
      question="What was tried, and what came of it?"
      answer={{
        data: true, // the filter stays while rows are asked for
        error: refused ? undefined : error,
        loading: matching === undefined,
        reload: () => pages.want(...range),
      }}
      exports={{ name: `${study.name}-trials`, csv: file }}
      toolbar={
        <>
          <Choice
            label="States"
            options={STATES}
            value={STATES.some(([text]) => text === filter) ? filter : null}
            choose={(text) => setQuery({ filter: text })}
          />
          <ColumnMenu
            all={columns.map((column) => column.name)}
            shown={names}
            choose={(chosen) => setQuery({ columns: chosen === null ? null : chosen.join(',') })}
          />
        </>
      }
      empty={matching === 0 && total === 0 && filter === '' ? 'There is no trial yet.' : undefined}
    >
      <FilterBox
        filter={filter}
        example={exampleOf(study)}
        error={refused ? (error ?? null) : null}
        apply={(text) => setQuery({ filter: text })}
      />
      <p class="quiet small" role="status">
        {matching === undefined || refused
          ? ' '
          : filter === ''
            ? counted(total, 'trial')
            : `${count(matching)} of ${counted(total, 'trial')}`}
      </p>
      {!refused &&
        (matching === undefined ? (
          !error && <p class="state-note">Loading …</p>
        ) : matching === 0 ? (
          <p class="state-note">No trial fits this filter.</p>
        ) : (
          <WindowTable
            // Another order begins at the top.
            key={`${filter} ${sort} ${wanted.descending}`}
            label={`Trials of ${study.name}`}
            rows={matching}
            seen={seen}
            head={shown.map((column) => ({
              key: column.name,
              width: column.width,
              right: column.right,
              grows: column.grows ?? false,
              sort: column.name === sort ? (wanted.descending ? 'descending' : 'ascending') : undefined,
              content: column.sortable ? (
                <SortButton name={column.name} sort={sort} descending={wanted.descending ?? false} />
              ) : (
                column.name
              ),
            }))}
            row={(i) => {
              const trial = pages.row(i)
              return trial
                ? {
                    key: trial.number,
                    cells: shown.map((column) => column.cell(trial)),
                    open: () => go(studyLink(study.name, `trial/${trial.number}`)),
                  }
                : null
            }}
          />
        ))}
    </View>
  )
}

function SortButton({ name, sort, descending }: { name: string; sort: string; descending: boolean }) {
  const is = name === sort
  return (
    <button
      type="button"
      class="sort"
      title={name}
      onClick={() => setQuery({ sort: name, descending: is && !descending ? true : null })}
    >
      <span>{name}</span>
      <span aria-hidden="true">{is ? (descending ? '↓' : '↑') : ''}</span>
    </button>
  )
}

/** A filter with a parameter of this study. */
function exampleOf(study: Study): string {
  const declared = 'parameters' in study.space ? Object.entries(study.space.parameters.parameters) : []
  const found = declared.find(([, param]) => param.type === 'float' || param.type === 'int')
  if (!found) return 'state = failed or seconds > 60'
  const [name, param] = found
  if (!('low' in param)) return 'state = failed'
  const middle = param.log ? Math.sqrt(param.low * param.high) : (param.low + param.high) / 2
  return `state = failed and ${/^[A-Za-z_][\w.]*$/.test(name) ? name : `\`${name}\``} < ${Number(middle.toPrecision(1))}`
}

/** Whether the error is one of the filter, which is shown at its box. */
const isAboutFilter = (error: Error): boolean =>
  error instanceof FilterError ||
  (error instanceof Problem && error.status >= 400 && error.status < 500 && /column \d+/.test(error.message))

async function tableFile(study: Study, wanted: TableOf, names: string[]): Promise<string> {
  const table = await allRows(study, wanted)
  const columns = columnsOf(study, table.attrs).filter((column) => names.includes(column.name))
  return csv(
    columns.map((column) => column.name),
    table.trials.map((trial) => columns.map((column) => column.plain(trial))),
  )
}
