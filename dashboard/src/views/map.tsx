import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { studyPath } from '../api/ask.ts'
import type { Importance, MapOf, Param, Params, Study, SurfaceMap, Table, Value } from '../api/types.ts'
import { useAll } from '../api/use_all.ts'
import { useAsk } from '../api/use_ask.ts'
import { route, setQuery } from '../app/router.ts'
import { isStill, mayWork, session } from '../app/session.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { choicesOf, enqueueing } from '../parts/enqueue.tsx'
import { View } from '../parts/view.tsx'
import { valueText } from '../words/numbers.ts'
import { MapFigure } from './map_figure.tsx'
import { axesOf, mapText, parametersOf, scaleOf } from './map_model.ts'

/** Pieces of the query that fix a parameter: `at.momentum=0.9`. */
const FIX = 'at.'

/** Maps of what the model expects. */
export function WhereIsItGood({ study, open }: StudyViewProps) {
  const embedded = isStill.value ? (session.value?.more?.maps?.[study.name] ?? []) : null
  const pair = useDefaultPair(study, embedded !== null)
  const { query } = route.value
  const chosen = embedded ? embedded[embeddedPlace(embedded)] : pair && asked(study, pair, query)
  const panel = embedded ? '' : (query.get('panel') ?? '')
  const choices = useMemo(
    () => panelChoices(study, panel, chosen),
    [study.space, panel, chosen?.x, chosen?.y],
  )
  const bodies: MapOf[] = !chosen
    ? []
    : choices.length === 0
      ? [chosen]
      : choices.map((choice) => ({ ...chosen, fixed: { ...chosen.fixed, [panel]: choice } }))
  const path = `${studyPath(study.name)}:map`
  const answer = useAll<SurfaceMap | null>(
    bodies.map((body) => ({ method: 'POST', path, body })),
    open.pace.value,
  )
  // Which panel a point belongs to: the best trials and the worst.
  const trials = useAll<Table>(
    choices.length > 0
      ? [false, true].map((descending) => ({ method: 'GET', path: tablePath(study, descending) }))
      : [],
  )
  const known = useMemo(() => trials.data?.answers.flatMap((table) => table.trials), [trials.data])
  const data = answer.data
  // Answers to the question before stay until there are new ones: they say themselves what they show.
  const shown = useMemo(() => data?.answers.filter((map) => map !== null) ?? [], [data])
  const titles = data?.of.map(({ body }) => panelTitle(body as MapOf, panel)) ?? []
  const panelValues = useMemo(
    () => data?.of.map(({ body }) => (body as MapOf).fixed?.[panel]) ?? [],
    [data, panel],
  )
  const nothing =
    embedded?.length === 0
      ? 'This report has no maps: make it with some, or open the study on its server.'
      : undefined
  const early =
    data && shown.length === 0
      ? 'There is no model yet: a map needs a few results. It appears here by itself.'
      : undefined
  return (
    <View
      title="Map"
      question="Where is it good?"
      answer={nothing ? undefined : answer}
      empty={nothing ?? early}
      toolbar={
        embedded ? (
          <EmbeddedChoice maps={embedded} />
        ) : chosen ? (
          <Axes study={study} of={chosen} panel={panel} />
        ) : null
      }
    >
      {shown.length > 0 && (
        <>
          <MapFigure
            study={study}
            maps={shown}
            titles={titles}
            choices={panelValues}
            panel={panel}
            known={known}
            moved={Object.keys(chosen?.fixed ?? {}).length > 0}
            onPick={
              mayWork.value && !isStill.value
                ? (point) => {
                    enqueueing.value = point
                  }
                : undefined
            }
          />
          {!embedded && chosen && (
            <Others study={study} of={chosen} panel={panel} fixed={shown[0]?.fixed ?? {}} />
          )}
        </>
      )}
    </View>
  )
}

/** How long a map waits to hear what matters, in milliseconds; then it begins with the first two parameters. */
const PATIENCE = 1200

/** The two parameters that matter most, or the first two. They stay while the view is open. */
function useDefaultPair(study: Study, embedded: boolean): [string, string | undefined] | null {
  const names = axesOf(study.space)
  const settled = useRef<[string, string | undefined] | null>(null)
  const [late, setLate] = useState(false)
  const { query } = route.value
  const wanted =
    !embedded &&
    !query.has('x') &&
    names.length > 2 &&
    settled.current === null &&
    'parameters' in study.space
  const answer = useAsk<Importance | null>('GET', wanted ? `${studyPath(study.name)}/views/importance` : null)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE)
    return () => clearTimeout(timer)
  }, [])
  if (settled.current === null && !(wanted && !late && answer.data === undefined && !answer.error)) {
    const ranked = answer.data?.parameters.map(({ name }) => name) ?? names
    settled.current = [ranked[0] ?? names[0] ?? '', ranked[1]]
  }
  return settled.current
}

/** What the query asks for. */
function asked(study: Study, [first, second]: [string, string | undefined], query: URLSearchParams): MapOf {
  const names = axesOf(study.space)
  const x = names.find((name) => name === query.get('x')) ?? first
  const other = query.has('x') ? (query.get('y') ?? undefined) : second
  const y = names.find((name) => name === other && name !== x)
  const fixed: Params = {}
  for (const [name, param] of parametersOf(study.space)) {
    const text = query.get(FIX + name)
    if (text === null || name === x || name === y) continue
    const value = choicesOf(param)?.find((choice) => String(choice) === text) ?? Number(text)
    if (typeof value !== 'number' || Number.isFinite(value)) fixed[name] = value
  }
  const several = y === undefined ? {} : { y }
  const some = Object.keys(fixed).length > 0 ? { fixed } : {}
  return {
    x,
    ...several,
    others: query.get('others') === 'average' ? 'average' : 'best',
    ...some,
    resolution: y ? 48 : 120,
  }
}

function panelChoices(study: Study, panel: string, of: MapOf | null | undefined): Value[] {
  const param = parametersOf(study.space).find(
    ([name]) => name === panel && name !== of?.x && name !== of?.y,
  )?.[1]
  return (param && choicesOf(param)) ?? []
}

const panelTitle = (of: MapOf, panel: string): string => {
  const value = of.fixed?.[panel]
  return value === undefined ? '' : `${panel} ${valueText(value)}`
}

const tablePath = (study: Study, descending: boolean): string =>
  `${studyPath(study.name)}/views/trials?sort=value&descending=${descending}&from=0&limit=1000`

/** Which map of a report is shown: the one that the address says, or the first of two parameters. */
function embeddedPlace(maps: MapOf[]): number {
  const asked = route.value.query.get('map')
  const two = maps.findIndex((map) => map.y !== undefined)
  return asked === null ? Math.max(0, two) : Number(asked)
}

/** The maps that a report has. */
function EmbeddedChoice({ maps }: { maps: MapOf[] }) {
  if (maps.length < 2) return null
  return (
    <label class="inline">
      Parameters
      <select
        value={String(embeddedPlace(maps))}
        onChange={(event) => setQuery({ map: event.currentTarget.value })}
      >
        {maps.map((map, i) => (
          <option key={mapText(map)} value={String(i)}>
            {mapText(map)}
          </option>
        ))}
      </select>
    </label>
  )
}

function Axes({ study, of, panel }: { study: Study; of: MapOf; panel: string }) {
  const names = axesOf(study.space)
  const panels = parametersOf(study.space).filter(
    ([name, param]) => choicesOf(param) && name !== of.x && name !== of.y,
  )
  const select = (
    label: string,
    value: string,
    options: [string, string][],
    set: (value: string) => void,
  ) => (
    <label class="inline">
      {label}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
  const named = (some: string[]): [string, string][] => some.map((name) => [name, name])
  return (
    <>
      {select('x axis', of.x, named(names), (x) =>
        setQuery({ x, y: of.y === x ? of.x : of.y, [FIX + x]: null }),
      )}
      {select(
        'y axis',
        of.y ?? '',
        [['', 'the value (a curve)'], ...named(names.filter((name) => name !== of.x))],
        (y) => setQuery({ x: of.x, y, [FIX + y]: null }),
      )}
      {panels.length > 0 &&
        select('Panels', panel, [['', 'none'], ...named(panels.map(([name]) => name))], (value) =>
          setQuery({ panel: value, ...(value ? { [FIX + value]: null } : {}) }),
        )}
      {names.length > (of.y ? 2 : 1) && (
        <fieldset class="choice" aria-label="Other parameters">
          {(['best', 'average'] as const).map((others) => (
            <button
              key={others}
              type="button"
              aria-pressed={of.others === others}
              onClick={() => setQuery({ others: others === 'average' ? others : null })}
            >
              {others === 'best' ? 'Others at the best' : 'Others averaged'}
            </button>
          ))}
        </fieldset>
      )}
    </>
  )
}

/** Where the other parameters are, and ways to fix them elsewhere. */
function Others({ study, of, panel, fixed }: { study: Study; of: MapOf; panel: string; fixed: Params }) {
  const others = parametersOf(study.space).filter(
    ([name]) => name !== of.x && name !== of.y && name !== panel,
  )
  if (others.length === 0) return null
  return (
    <section class="panel" aria-label="Other parameters">
      <h2>Other parameters</h2>
      <div class="map-others">
        {others.map(([name, param]) => (
          <Fix
            key={name}
            name={name}
            param={param}
            own={of.fixed?.[name]}
            averaged={of.others === 'average'}
            shown={of.fixed?.[name] ?? fixed[name]}
          />
        ))}
      </div>
    </section>
  )
}

/** How long a slider rests before the model is asked, in milliseconds. */
const REST = 120

function Fix({
  name,
  param,
  own,
  shown,
  averaged,
}: {
  name: string
  param: Param
  own: Value | undefined
  shown: Value | undefined
  averaged: boolean
}) {
  const id = useId()
  const choices = choicesOf(param)
  const scale = scaleOf(param)
  const [moved, setMoved] = useState<Value | undefined>()
  const value = moved ?? shown
  useEffect(() => {
    if (moved === undefined) return
    const timer = setTimeout(() => {
      setQuery({ [FIX + name]: String(moved) })
      setMoved(undefined)
    }, REST)
    return () => clearTimeout(timer)
  }, [moved])
  const text = value === undefined ? 'averaged' : valueText(value)
  const place = value === undefined ? 0.5 : scale.place(value)
  return (
    <div class="map-fix">
      <label class="field" for={id}>
        {name}
        {!choices && <strong> {text}</strong>}
        {!choices && own === undefined && value !== undefined && ' (at the best)'}
      </label>
      {choices ? (
        <select
          id={id}
          value={own === undefined ? '' : String(own)}
          onChange={(event) => setQuery({ [FIX + name]: event.currentTarget.value })}
        >
          <option value="">
            {own === undefined ? unfixed(shown) : averaged ? 'averaged' : 'as at the best'}
          </option>
          {choices.map((choice) => (
            <option key={String(choice)} value={String(choice)}>
              {valueText(choice)}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          type="range"
          min={0}
          max={1}
          step={
            param.type === 'int' && !param.log && 'low' in param
              ? 1 / Math.max(1, param.high - param.low)
              : 0.01
          }
          value={place}
          aria-valuetext={text}
          onInput={(event) => setMoved(rounded(scale.value(Number(event.currentTarget.value))))}
        />
      )}
      {own !== undefined && (
        <button type="button" class="plain" onClick={() => setQuery({ [FIX + name]: null })}>
          Reset<span class="hidden"> {name}</span>
        </button>
      )}
    </div>
  )
}

const unfixed = (shown: Value | undefined): string =>
  shown === undefined ? 'averaged' : `${valueText(shown)} (at the best)`

/** With the digits that a slider can mean. */
function rounded(value: Value): Value {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value
}
