import { useMemo } from 'preact/hooks'
import { studyPath } from '../api/ask.ts'
import type { Trust as Answered, LeftOut, ModelCard, Remark } from '../api/types.ts'
import { useAsk } from '../api/use_ask.ts'
import { go, studyLink } from '../app/router.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { uncertain } from '../charts/digits.ts'
import { Figure } from '../charts/figure.tsx'
import { BARS, Scatter, type ScatterPoint } from '../charts/scatter.tsx'
import { Sized } from '../charts/sized.tsx'
import { Panel, View } from '../parts/view.tsx'
import { count, counted, number, percent } from '../words/numbers.ts'
import { coverageText, explainedText, noiseText } from './trust_words.ts'

/** How many deviations an interval of 90 % goes to either side: the level that the sentences speak of. */
const SPREAD = 1.645

/** Whether the model can be trusted. */
export function Trust({ study, open }: StudyViewProps) {
  const answer = useAsk<Answered>('GET', `${studyPath(study.name)}/views/trust`, undefined, open.pace.value)
  const { data } = answer
  return (
    <View title="Trust" question="Can I trust it?" answer={answer}>
      {data && (
        <div class="stack">
          <Health remarks={data.health} />
          {data.left_out && <LeaveOneOut study={study.name} left={data.left_out} />}
          {data.model ? (
            <Model card={data.model} />
          ) : (
            <p class="quiet">There is no model yet: it needs a few results. It appears here by itself.</p>
          )}
        </div>
      )}
    </View>
  )
}

const WORDS = { good: 'Good', note: 'Note', warning: 'Warning' }
/** A check, a circle with a dot, a triangle: shapes beside colors. */
const ICONS = {
  good: 'M2.5 8.5l3.5 3.5l7.5-8',
  note: 'M8 1.8a6.2 6.2 0 1 1 0 12.4a6.2 6.2 0 1 1 0-12.4ZM8 7.2v4M8 4.6v.6',
  warning: 'M8 1.8L15 14H1ZM8 6v4M8 11.8v.6',
}

function Health({ remarks }: { remarks: Remark[] }) {
  if (remarks.length === 0) return null
  return (
    <ul class="health" aria-label="How the study is">
      {remarks.map(({ level, text }) => (
        <li key={text} class={level}>
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <path d={ICONS[level]} />
          </svg>
          <p>
            <strong>{WORDS[level]}</strong> {text}
          </p>
        </li>
      ))}
    </ul>
  )
}

function LeaveOneOut({ study, left }: { study: string; left: LeftOut }) {
  const points: ScatterPoint[] = useMemo(
    () =>
      left.number.map((trial, i) => {
        const [value, mean, sd] = [left.value[i] ?? 0, left.mean[i] ?? 0, left.sd[i] ?? 0]
        const outside = Math.abs(value - mean) > SPREAD * sd
        return {
          x: value,
          y: mean,
          low: mean - SPREAD * sd,
          high: mean + SPREAD * sd,
          outside,
          text: [
            `trial ${trial}`,
            `observed ${number(value)}`,
            `expected ${uncertain(mean, sd)}`,
            ...(outside ? ['outside its 90 % interval'] : []),
          ],
        }
      }),
    [left],
  )
  const outside = points.filter((point) => point.outside).length
  return (
    <Figure
      name={`${study}-leave-one-out`}
      title="Each value, predicted from all the others"
      summary={
        <>
          {coverageText(left)} {explainedText(left)} Points on the line are predicted exactly
          {points.length <= BARS && ', and bars are 90 % intervals'};{' '}
          {outside === 0
            ? 'no value is outside its own.'
            : `${counted(outside, 'value is', 'values are')} outside (diamonds).`}
        </>
      }
      sheet={() => ({
        columns: ['trial', 'value', 'expected', 'deviation', 'inside 90 %'],
        rows: left.number.map((trial, i) => [
          trial,
          left.value[i] ?? null,
          left.mean[i] ?? null,
          left.sd[i] ?? null,
          !points[i]?.outside,
        ]),
      })}
    >
      <div class="narrow">
        <Sized>
          {(width) => (
            <Scatter
              label="Predictions of left out values against the values"
              xLabel="Observed value"
              yLabel="Expected by a model of the others"
              points={points}
              width={width}
              onOpen={(i) => go(studyLink(study, `trial/${left.number[i]}`))}
            />
          )}
        </Sized>
      </div>
    </Figure>
  )
}

function Model({ card }: { card: ModelCard }) {
  return (
    <Panel title="What the model has learned">
      <p>
        {card.evaluations < card.of
          ? `The model uses ${count(card.evaluations)} of ${counted(card.of, 'evaluation')}.`
          : `The model uses all ${counted(card.of, 'evaluation')}.`}{' '}
        {noiseText(card)}
      </p>
      <div class="wide table-narrow">
        <table>
          <caption class="hidden">How fast the objective changes along each parameter</caption>
          <thead>
            <tr>
              <th scope="col">Parameter</th>
              <th scope="col">In words</th>
              <th scope="col" class="number">
                Length scale
              </th>
            </tr>
          </thead>
          <tbody>
            {card.lengthscales.map(([name, scale, words]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{words}</td>
                <td class="number">{scale > 10 ? 'over 10 ranges' : `${percent(scale)} of the range`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet small">
        A length scale says how far one goes along a parameter before the model knows little of the value: a
        small one means that the objective changes fast.
      </p>
    </Panel>
  )
}
