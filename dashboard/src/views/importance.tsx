import { studyPath } from '../api/ask.ts'
import type { Importance as Answered } from '../api/types.ts'
import { useAsk } from '../api/use_ask.ts'
import { studyLink } from '../app/router.ts'
import { isStill } from '../app/session.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { Bars } from '../charts/bars.tsx'
import { Figure } from '../charts/figure.tsx'
import { Sized } from '../charts/sized.tsx'
import { View } from '../parts/view.tsx'
import { counted } from '../words/numbers.ts'
import { interactionsText, inWords, pairOf } from './importance_words.ts'

/** How much each parameter matters. */
export function Importance({ study, open }: StudyViewProps) {
  const answer = useAsk<Answered | null>(
    'GET',
    `${studyPath(study.name)}/views/importance`,
    undefined,
    open.pace.value,
  )
  const { data } = answer
  const pair = data ? pairOf(data) : []
  return (
    <View
      title="Importance"
      question="What matters?"
      answer={answer}
      empty={
        data === null
          ? 'Too little is known yet: this needs a model, and that needs a few results. It appears here by itself.'
          : undefined
      }
    >
      {data && (
        <div class="stack">
          <p class="lead">{inWords(data)}</p>
          <Figure
            name={`${study.name}-importance`}
            title="Shares of the variation"
            summary={
              <>
                Shares of the objective's variation over the whole space, by a model of{' '}
                {counted(data.evaluations, 'evaluation')}. Dark, and the first number: what a parameter
                explains on its own. Light, and the second number: together with all its interactions. A share
                that two parameters have together counts for both, so these need not add up to 100 %. Whiskers
                are 90 % intervals.
              </>
            }
            sheet={() => ({
              columns: ['parameter', 'alone', 'alone from', 'alone to', 'in total', 'total from', 'total to'],
              rows: data.parameters.map(({ name, first, total }) => [
                name,
                first.share,
                first.low,
                first.high,
                total.share,
                total.low,
                total.high,
              ]),
            })}
          >
            <div class="table-narrow">
              <Sized>
                {(width) => <Bars label="Importance of parameters" rows={data.parameters} width={width} />}
              </Sized>
            </div>
          </Figure>
          <p>
            {interactionsText(data)}{' '}
            {!isStill.value && pair.length === 2 && (
              <a href={studyLink(study.name, 'map', { x: pair[0], y: pair[1] })}>
                Where {pair.join(' and ')} are good
              </a>
            )}
          </p>
          <p class="quiet small">
            This is about the whole space. Close to the best point, other parameters may matter more: see the
            map there.
          </p>
        </div>
      )}
    </View>
  )
}
