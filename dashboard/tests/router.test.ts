// @vitest-environment happy-dom
import { describe, expect, test } from 'vitest'
import { go, link, parse, route, setQuery, studyLink } from '../src/app/router.ts'

describe('router', () => {
  test('reads what it writes, with any name', () => {
    for (const name of ['egg', 'a/b c', 'x?y=1&z#', 'größe', '100%']) {
      const { path, query } = parse(
        studyLink(name, 'trials', { filter: "act == 'a&b' and lr < 1e-3", sort: 'lr' }),
      )
      expect(path).toEqual(['study', name, 'trials'])
      expect(query.get('filter')).toBe("act == 'a&b' and lr < 1e-3")
      expect(query.get('sort')).toBe('lr')
    }
  })

  test('the home of everything, and broken addresses', () => {
    for (const hash of ['', '#', '#/', '#//']) expect(parse(hash).path).toEqual([])
    expect(parse('#/study/%E0%A4%A').path).toEqual(['study', '%E0%A4%A'])
  })

  test('an entry without a value is left out', () => {
    expect(link(['compare'], { a: null, b: '', c: undefined, d: 0, e: false })).toBe('#/compare?d=0&e=false')
  })

  test('changes of the query keep the rest', () => {
    go('#/study/egg/trials?filter=a&sort=b', { replace: true })
    setQuery({ filter: null, columns: 'x,y' })
    expect(route.value.path).toEqual(['study', 'egg', 'trials'])
    expect(Object.fromEntries(route.value.query)).toEqual({ sort: 'b', columns: 'x,y' })
    expect(location.hash).toContain('sort=b')
  })
})
