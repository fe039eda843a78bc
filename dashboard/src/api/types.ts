// What goes over the wire, as crates/noregret-client has it in views.rs and api.rs: their descriptions hold here, too.
// Long series are columns: arrays of the same length. Times in columns are seconds since `begun`.

/** A value of a parameter. */
export type Value = number | string | boolean
/** Values by the names of their parameters. */
export type Params = Record<string, Value>
/** Anything that JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
/** Whether small or large values are good. */
export type Direction = 'minimize' | 'maximize'
/** What may be done. */
export type Role = 'read' | 'work' | 'admin'

/** An error, as `application/problem+json` has it. */
export interface ProblemBody {
  type: string
  title: string
  status: number
  detail: string
  position?: number
}

/** Who is looking, and at what. */
export interface Session {
  role: Role
  version: string
  report?: boolean
  made?: string
  more?: { maps?: Record<string, MapOf[]>; [key: string]: unknown }
}

/** Trials by state. */
export interface Counts {
  waiting: number
  running: number
  complete: number
  failed: number
}

/** The states of a trial. */
export type TrialState = 'waiting' | 'running' | 'complete' | 'failed'

/** One trial. */
export interface Trial {
  number: number
  state: TrialState
  id?: string
  params: Params
  value: number | null
  noise_var: number | null
  reason: string | null
  attrs: Record<string, Json>
  attempts: number
  late?: number
  asked: string
  started: string | null
  ended: string | null
  seconds: number | null
  worker?: string
  stderr?: string
  note?: string
}

/** One parameter, as a study file declares it. */
export type Param =
  | { type: 'float'; low: number; high: number; log?: boolean }
  | { type: 'int'; low: number; high: number; log?: boolean }
  | { type: 'ordinal'; values: Value[] }
  | { type: 'categorical'; choices: Value[] }
  | { type: 'bool' }

/** Where a study searches. */
export type Space =
  | { parameters: { parameters: Record<string, Param>; constraints: Record<string, string | null> } }
  | { pool: { file: string; features: string[]; id: string | null; rows: number; digest: number } }

/** A study. */
export interface Study {
  name: string
  direction: Direction
  algorithm: Json
  seed: number
  trials: number | null
  space: Space
  archived: boolean
  paused?: boolean
  tags?: string[]
  note?: string
  counts: Counts
  best_observed: Trial | null
  done: boolean
  objective?: Json
  position: number
}

/** What to use. */
export interface Best {
  observed: Trial | null
  recommended: {
    number: number
    params: Params
    mean: number
    interval: [number, number]
    observed: number | null
  } | null
  recommended_id?: string
  remaining_regret: Json
}

/** All studies, as cards. */
export interface Overview {
  studies: StudyCard[]
  time: string
}

/** A study among others. */
export interface StudyCard {
  name: string
  problem?: string
  archived: boolean
  paused: boolean
  tags: string[]
  direction: Direction
  algorithm: string
  counts: Counts
  trials: number | null
  done: boolean
  best: number | null
  spark: number[]
  workers: string[]
  last: string | null
  position: number
}

/** Values over time, thinned for a plot. */
export interface History {
  position: number
  begun: string | null
  counts: Counts
  planned: number | null
  thinned: boolean
  number: number[]
  place: number[]
  value: (number | null)[]
  ended: number[]
  /** Place, time and value. */
  best: [number, number, number][]
  /** Number, time at which it was handed out, and worker. */
  running: [number, number, string][]
}

/** What could still be gained, at some moments of the study. */
export interface Regret {
  place: number[]
  median: number[]
  low: number[]
  high: number[]
}

/** A part of the trials, filtered and sorted. */
export interface Table {
  position: number
  total: number
  matching: number
  from: number
  trials: Trial[]
  attrs: string[]
}

/** The life of a trial, and why its point was chosen. */
export interface Story {
  trial: Trial
  timeline: Step[]
  why: Why
}

/** Something that happened to a trial. */
export interface Step {
  time: string
  what: string
  worker?: string
  detail?: string
}

/** Why a point was chosen. */
export interface Why {
  summary: string
  kind: string
  algorithm?: string
  mean?: number
  sd?: number
  best_mean?: number
  expected_improvement?: number
  /** Number of the nearest evaluated point, and the correlation of the two values. */
  nearest?: [number, number]
  eta_hat?: number
  batch?: number
  notes?: string[]
}

/** What a map is to show. */
export interface MapOf {
  x: string
  y?: string
  others?: 'best' | 'average'
  fixed?: Params
  resolution?: number
}

/** What the model expects along one or two parameters. */
export interface SurfaceMap {
  x: Axis
  y: Axis | null
  fixed: Params
  /** Row by row from the lowest `y`. */
  mean: number[]
  sd: number[]
  infeasible: number[]
  /** Number, place on `x` and on `y` (from 0 to 1), value. */
  evaluated: [number, number, number, number][]
  pending: [number, number, number][]
  recommended: [number, number, number] | null
}

/** A parameter along an axis. */
export interface Axis {
  name: string
  kind: 'float' | 'int' | 'ordinal' | 'categorical' | 'bool' | 'feature'
  log: boolean
  values: Value[]
  places: number[]
}

/** What matters. */
export interface Importance {
  evaluations: number
  parameters: ImportanceOf[]
  interactions: number
}

/** How much a parameter matters. */
export interface ImportanceOf {
  name: string
  first: Share
  total: Share
}

/** A share with its 90 % interval. */
export interface Share {
  share: number
  low: number
  high: number
}

/** Whether the model can be trusted. */
export interface Trust {
  health: Remark[]
  model: ModelCard | null
  left_out: LeftOut | null
}

/** A sentence about the study. */
export interface Remark {
  level: 'good' | 'note' | 'warning'
  text: string
}

/** The model in words and numbers. */
export interface ModelCard {
  evaluations: number
  of: number
  noise_sd: number
  signal_sd: number
  /** Name, length scale as a share of the range, and what that means. */
  lengthscales: [string, number, string][]
}

/** Leave-one-out predictions. */
export interface LeftOut {
  number: number[]
  value: number[]
  mean: number[]
  sd: number[]
  /** Shares of values inside their 50 %, 90 % and 95 % intervals. */
  coverage: [number, number, number]
  explained: number
}

/** Who did what, and when. */
export interface Workers {
  position: number
  begun: string | null
  now: number
  workers: Worker[]
  spans: Span[]
  thinned: boolean
  evaluation_seconds: number
  thinking_seconds: number
}

/** Who evaluates. */
export interface Worker {
  name: string
  host: string | null
  running: number
  complete: number
  failed: number
  lost: number
  first: number
  last: number
  busy: number
}

/** One evaluation, or an attempt at one. */
export interface Span {
  number: number
  worker: number
  begin: number
  end: number | null
  outcome: 'running' | 'complete' | 'failed' | 'retried' | 'released' | 'lost'
}

/** Candidates on a plane. */
export interface PoolPlane {
  rows: number
  chosen: number
  explained: [number, number]
  row: number[]
  id: string[]
  x: number[]
  y: number[]
  mean: number[] | null
  number: (number | null)[]
  value: (number | null)[]
}

/** A note on a trial or on the study, and tags of the study. */
export interface Annotate {
  note?: string
  tags?: string[]
}

/** Hand out nothing for now, or go on. */
export interface Pause {
  paused: boolean
}

/** Put a study away, or take it out again. */
export interface Archive {
  archived?: boolean
}

/** A corrected result. */
export interface Replace {
  value: number | null
  noise_var?: number
  reason?: string
}

/** The result of a trial. */
export interface Tell {
  value: number | null
  noise_var?: number
  seconds?: number
  worker?: string
}

/** A trial ended without a value. */
export interface Fail {
  reason: string
  retry?: boolean
  worker?: string
}

/** What became of a result. */
export interface Told {
  number: number
  result: 'complete' | 'failed' | 'same' | 'late'
}

/** Trials that a worker still has. */
export interface Held {
  trials: number[]
}

/** One page of trials, by number. */
export interface Trials {
  trials: Trial[]
  next: number | null
}

/** Points that ask would hand out. */
export interface Suggested {
  points: Params[]
  /** Names of the candidates, in a pool. */
  ids?: string[]
}

/** What the model expects at points. */
export interface Predicted {
  mean: number[] | null
  sd: number[] | null
}

/** An entry of a study's log, as its stream of events sends it. */
export interface LogEvent {
  position: number
  time: string
  /** One key, which says what happened. */
  event: Record<string, Record<string, unknown>>
}
