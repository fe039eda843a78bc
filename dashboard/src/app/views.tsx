import type { ComponentType } from 'preact'
import type { Study } from '../api/types.ts'
import { History } from '../views/history.tsx'
import { Importance } from '../views/importance.tsx'
import { WhereIsItGood } from '../views/map.tsx'
import { Parallel } from '../views/parallel.tsx'
import { Pool } from '../views/pool.tsx'
import { Trials } from '../views/trials.tsx'
import { Trust } from '../views/trust.tsx'
import { Workers } from '../views/workers.tsx'
import type { OpenStudy } from './study.ts'

/** What a view of a study is given. Its filters are in the query of `route`, so that they have a link. */
export interface StudyViewProps {
  /** The settings of the study, always there. */
  study: Study
  /** What follows its events. */
  open: OpenStudy
}

export interface StudyView {
  /** In the address: `#/study/NAME/word`. */
  word: string
  title: string
  view: ComponentType<StudyViewProps>
  /** Whether it says anything of this study. */
  fits?: (study: Study) => boolean
  /** Whether it has a place on the page of everything: a long table has none. */
  onePage?: false
}

/** The address of all views on one page, for printing. */
export const EVERYTHING = 'all'

export const isPool = (study: Study): boolean => 'pool' in study.space

/** The views of a study, in the order of the navigation. */
export const STUDY_VIEWS: StudyView[] = [
  { word: '', title: 'History', view: History },
  { word: 'trials', title: 'Trials', view: Trials, onePage: false },
  { word: 'map', title: 'Map', view: WhereIsItGood },
  { word: 'parallel', title: 'Parallel', view: Parallel },
  { word: 'importance', title: 'Importance', view: Importance },
  { word: 'trust', title: 'Trust', view: Trust },
  { word: 'workers', title: 'Workers', view: Workers },
  { word: 'pool', title: 'Pool', view: Pool, fits: isPool },
]
