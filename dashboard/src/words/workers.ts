/** Letters of a worker's name that are shown: names made by machines may have many more. */
const MOST = 28

/** A worker's name, shortened if it is long; the whole name belongs into a title. */
export const workerText = (name: string): string =>
  name.length > MOST ? `${name.slice(0, MOST - 1)}…` : name
