import { useMemo, useState } from 'preact/hooks'
import { ask, studyPath } from '../api/ask.ts'
import type { PoolPlane, Predicted, Study, Suggested } from '../api/types.ts'
import { useAsk } from '../api/use_ask.ts'
import { route, setQuery } from '../app/router.ts'
import { isStill, mayWork, noticeRefusal } from '../app/session.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { css, goodness, values as ramp } from '../charts/color.ts'
import { Figure } from '../charts/figure.tsx'
import { Legend } from '../charts/heat_map.tsx'
import { Plane, type PlanePoint } from '../charts/plane.tsx'
import { Sized } from '../charts/sized.tsx'
import { Trouble } from '../parts/trouble.tsx'
import { View } from '../parts/view.tsx'
import { count, counted, number, percent } from '../words/numbers.ts'
import { colorRange } from './map_model.ts'
import { Plate } from './plate.tsx'

/** What is known of a plate before it is evaluated. */
export interface NextPlate {
  suggested: Suggested
  predicted: Predicted | null
}

/** Candidates on a plane, and the next ones. */
export function Pool({ study, open }: StudyViewProps) {
  const answer = useAsk<PoolPlane | null>(
    'GET',
    `${studyPath(study.name)}/views/pool`,
    undefined,
    open.pace.value,
  )
  const { data } = answer
  const [plate, setPlate] = useState<NextPlate | null>(null)
  return (
    <View
      title="Pool"
      question="Which candidates are left?"
      answer={answer}
      empty={
        data === null
          ? 'This study has no pool of candidates: its parameters are ranges and choices.'
          : undefined
      }
    >
      {data && (
        <div class="stack">
          <p class="lead">{coverage(data)}</p>
          <PlaneFigure study={study} data={data} plate={plate} />
          {mayWork.value && !isStill.value && (
            <Next study={study} left={data.rows - data.chosen} found={setPlate} />
          )}
          {plate && <Plate study={study} plate={plate} />}
        </div>
      )}
    </View>
  )
}

function coverage({ rows, chosen }: PoolPlane): string {
  if (chosen === 0) return `All ${counted(rows, 'candidate')} are left: none was chosen yet.`
  return `${counted(chosen, 'candidate')} of ${count(rows)} ${chosen === 1 ? 'was' : 'were'} chosen so far (${percent(chosen / rows)}); ${count(rows - chosen)} are left.`
}

function PlaneFigure({ study, data, plate }: { study: Study; data: PoolPlane; plate: NextPlate | null }) {
  const byMean = route.value.query.get('color') !== 'value' && data.mean !== null
  const next = useMemo(() => new Set(plate?.suggested.ids ?? []), [plate])
  const numbers = useMemo(
    () => (byMean ? (data.mean ?? []) : data.value.filter((value) => value !== null)),
    [data, byMean],
  )
  const range = useMemo(() => colorRange(numbers, study.direction), [numbers, study.direction])
  const points: PlanePoint[] = useMemo(() => {
    const share = goodness(range.low, range.high, study.direction)
    return data.row.map((row, i) => {
      const [mean, value, trial] = [data.mean?.[i] ?? null, data.value[i] ?? null, data.number[i] ?? null]
      const shown = byMean ? mean : value
      const id = data.id[i] ?? ''
      return {
        x: data.x[i] ?? 0,
        y: data.y[i] ?? 0,
        color: shown === null ? null : css(ramp(share(shown))),
        chosen: trial !== null,
        next: next.has(id),
        text: [
          id === '' ? `row ${row}` : id,
          ...(mean === null ? [] : [`expected ${number(mean)}`]),
          trial === null
            ? 'not chosen yet'
            : `trial ${trial}${value === null ? '' : `, value ${number(value)}`}`,
          ...(next.has(id) ? ['on the next plate'] : []),
        ],
      }
    })
  }, [data, byMean, range, next, study.direction])
  const [bad, good] = study.direction === 'minimize' ? [range.high, range.low] : [range.low, range.high]
  const [first, second] = data.explained
  return (
    <Figure
      name={`${study.name}-pool`}
      title="Candidates, similar ones close together"
      toolbar={
        data.mean !== null && (
          <fieldset class="choice" aria-label="Colors">
            <button type="button" aria-pressed={byMean} onClick={() => setQuery({ color: null })}>
              Expected value
            </button>
            <button type="button" aria-pressed={!byMean} onClick={() => setQuery({ color: 'value' })}>
              Observed value
            </button>
          </fieldset>
        )
      }
      summary={
        <>
          Neighbors have similar features: the plane holds {percent(first + second)} of their variance. Large
          discs with a rim were chosen{next.size > 0 && ', squares are on the next plate'}, small dots were
          not.
          {data.row.length < data.rows &&
            ` ${counted(data.row.length, 'candidate')} of ${count(data.rows)} are drawn: those that were chosen, and random others.`}
        </>
      }
      sheet={() => ({
        columns: ['row', 'id', 'x', 'y', 'expected', 'trial', 'value'],
        rows: data.row.map((row, i) => [
          row,
          data.id[i] ?? '',
          data.x[i] ?? null,
          data.y[i] ?? null,
          data.mean?.[i] ?? null,
          data.number[i] ?? null,
          data.value[i] ?? null,
        ]),
      })}
    >
      <Sized>
        {(width) => (
          <>
            <Plane
              label="Candidates on a plane"
              xLabel={`Main direction of the features (${percent(first)} of their variance)`}
              yLabel={`Second direction (${percent(second)})`}
              points={points}
              width={width}
            />
            {numbers.length > 0 && (
              <Legend
                ramp={ramp}
                from={`${range.cut ? 'beyond ' : ''}${number(bad, 3)}`}
                to={number(good, 3)}
                label={byMean ? 'Expected value, from bad to good' : 'Observed value, from bad to good'}
                width={width}
              />
            )}
          </>
        )}
      </Sized>
    </Figure>
  )
}

/** Asks for the candidates that would come next. */
function Next({ study, left, found }: { study: Study; left: number; found: (plate: NextPlate) => void }) {
  const [text, setText] = useState('8')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const n = Number(text)
  const ready = Number.isInteger(n) && n >= 1 && n <= left
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      const suggested = await ask<Suggested>('POST', `${studyPath(study.name)}:suggest`, { n })
      const predicted = await ask<Predicted>('POST', `${studyPath(study.name)}:predict`, {
        points: suggested.points,
      }).catch(() => null)
      found({ suggested, predicted })
    } catch (problem) {
      noticeRefusal(problem)
      setError(problem as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <section class="panel plate-form" aria-labelledby="next-plate">
      <h2 id="next-plate">The next plate</h2>
      <form class="row" onSubmit={submit}>
        <label class="inline">
          Candidates
          <input
            type="number"
            min={1}
            max={left}
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy || !ready}>
          {busy ? 'Thinking …' : 'Suggest'}
        </button>
        <span class="quiet small">
          A sheet to print. Nothing is registered: workers may still be given others.
        </span>
      </form>
      {error && <Trouble error={error} />}
    </section>
  )
}
