import '@preact/signals'
import 'uplot/dist/uPlot.min.css'
import './style/colors.css'
import './style/page.css'
import './style/views.css'
import './style/charts.css'
import { render } from 'preact'
import { startRouter } from './app/router.ts'
import { startSession } from './app/session.ts'
import { Shell } from './app/shell.tsx'
import { startTheme } from './app/theme.ts'
import { startClock } from './words/times.ts'

startTheme()
startClock()
startRouter()
void startSession()

const page = document.getElementById('page')
if (page) {
  page.textContent = ''
  render(<Shell />, page)
}
