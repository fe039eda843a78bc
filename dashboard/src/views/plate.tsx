import type { Study } from '../api/types.ts'
import { uncertain } from '../charts/digits.ts'
import { csv } from '../export/csv.ts'
import { Panel } from '../parts/view.tsx'
import { counted, valueText } from '../words/numbers.ts'
import { exact } from '../words/times.ts'
import type { NextPlate } from './pool.tsx'

/** Features that a sheet has room for. */
const COLUMNS = 6

/** The next candidates as a sheet: names, check boxes, and room for what is measured. */
export function Plate({ study, plate }: { study: Study; plate: NextPlate }) {
  const { points, ids } = plate.suggested
  const features = Object.keys(points[0] ?? {})
  const shown = features.slice(0, ids ? COLUMNS - 2 : COLUMNS)
  const { mean, sd } = plate.predicted ?? { mean: null, sd: null }
  const made = exact(Date.now())
  const sheet = () =>
    csv(
      ['place', ...(ids ? ['id'] : []), ...features, 'expected', 'deviation'],
      points.map((point, i) => [
        i + 1,
        ...(ids ? [ids[i]] : []),
        ...features.map((name) => point[name]),
        mean?.[i],
        sd?.[i],
      ]),
    )
  return (
    <div class="plate">
      <Panel
        title={`${study.name}: ${counted(points.length, 'candidate')} for the next plate`}
        exports={{ name: `${study.name}-plate`, csv: sheet }}
        toolbar={
          <button type="button" onClick={() => window.print()}>
            Print
          </button>
        }
        note={`Made ${made}. Expected values are those of the model, plus or minus a standard deviation.${
          features.length > shown.length
            ? ` ${features.length - shown.length} more features are in the CSV file.`
            : ''
        }`}
      >
        <div class="wide">
          <table>
            <thead>
              <tr>
                <th scope="col">Done</th>
                <th scope="col" class="number">
                  Place
                </th>
                {ids && <th scope="col">Candidate</th>}
                {shown.map((name) => (
                  <th scope="col" class="number" key={name}>
                    {name}
                  </th>
                ))}
                {mean && (
                  <th scope="col" class="number">
                    Expected
                  </th>
                )}
                <th scope="col">Measured</th>
              </tr>
            </thead>
            <tbody>
              {points.map((point, i) => (
                <tr key={ids?.[i] ?? i}>
                  <td>
                    <input type="checkbox" aria-label={`Place ${i + 1} is done`} />
                  </td>
                  <td class="number">{i + 1}</td>
                  {ids && <th scope="row">{ids[i]}</th>}
                  {shown.map((name) => (
                    <td class="number" key={name}>
                      {valueText(point[name])}
                    </td>
                  ))}
                  {mean && <td class="number">{uncertain(mean[i] ?? 0, sd?.[i] ?? 0)}</td>}
                  <td class="blank" />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
    </div>
  )
}
