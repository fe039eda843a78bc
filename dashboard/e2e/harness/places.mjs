// All views: their links, the question at their head, and what must be seen there.

/** `sees` is a selector of something that is only there if the view has something to show. */
export const PLACES = [
  { name: 'studies', hash: '#/', asks: /which studies/i, sees: 'a:has-text("network")' },
  { name: 'compare', hash: '#/compare', asks: /better/i, sees: 'svg[data-chart]' },
  { name: 'history', hash: '#/study/network', asks: /done/i, sees: 'canvas' },
  { name: 'trials', hash: '#/study/network/trials', asks: /tried/i, sees: '[role=table] [role=cell] a' },
  {
    name: 'trial',
    hash: '#/study/network/trial/3',
    asks: /why/i,
    sees: 'h2:has-text("Why this point was chosen")',
  },
  { name: 'map', hash: '#/study/network/map', asks: /good/i, sees: 'svg[aria-roledescription=map]' },
  {
    name: 'parallel',
    hash: '#/study/network/parallel',
    asks: /settings/i,
    sees: 'svg[aria-roledescription="parallel coordinates"]',
  },
  { name: 'importance', hash: '#/study/network/importance', asks: /matters/i, sees: 'svg[data-chart]' },
  { name: 'trust', hash: '#/study/network/trust', asks: /trust/i, sees: 'svg[data-chart]' },
  { name: 'workers', hash: '#/study/network/workers', asks: /work|idle|who/i, sees: 'svg[data-chart]' },
  { name: 'all', hash: '#/study/network/all', asks: /./, sees: 'svg[aria-roledescription=map]' },
  { name: 'pool', hash: '#/study/alloys/pool', asks: /./, sees: 'svg[data-chart]' },
]

/** What a study without any result shows instead: a sentence, and no fault. */
export const EMPTY = ['', '/trials', '/map', '/parallel', '/importance', '/trust', '/workers'].map(
  (view) => `#/study/empty${view}`,
)
