// Compares src/api/types.ts with what a server says of itself: node scripts/check_types.mjs http://127.0.0.1:8080 [TOKEN]
//
// Every field that the page reads must be one that the server sends. Fields that the page leaves alone are fine.

import { readFile } from 'node:fs/promises'

const [base, token] = process.argv.slice(2)
const headers = token ? { Authorization: `Bearer ${token}` } : {}
const answer = await fetch(new URL('api/v1/openapi.json', base.replace(/\/?$/, '/')), { headers })
if (!answer.ok) throw new Error(`the server answers ${answer.status}: ${await answer.text()}`)
const { components } = await answer.json()
const source = await readFile(new URL('../src/api/types.ts', import.meta.url), 'utf8')

/** What the page calls otherwise than the server. */
const NAMES = { ProblemBody: 'Problem' }
/** What is not in the document: the stream of events is text, and the space is as in study files. */
const UNKNOWN = new Set(['LogEvent'])

let faults = 0
let compared = 0
for (const [, name, body] of source.matchAll(/export interface (\w+) \{\n([\s\S]*?)\n\}/g)) {
  const schema = components.schemas[NAMES[name] ?? name]
  if (!schema) {
    if (!UNKNOWN.has(name)) {
      console.error(`${name}: the server knows no such type`)
      faults += 1
    }
    continue
  }
  compared += 1
  const required = new Set(schema.required ?? [])
  for (const [, field, optional] of body.matchAll(/^ {2}(\w+)(\?)?:/gm)) {
    if (!(field in (schema.properties ?? {}))) {
      console.error(`${name}.${field}: the server sends no such field`)
      faults += 1
    } else if (!optional && !required.has(field) && !isNullable(schema.properties[field])) {
      console.error(`${name}.${field}: the server may leave it out`)
      faults += 1
    }
  }
}
console.log(`${compared} types compared, ${faults} faults`)
process.exitCode = faults === 0 ? 0 : 1

/** Whether null will do; what has no type may be anything. */
function isNullable(property) {
  return (
    property === true ||
    !('type' in property || 'anyOf' in property || '$ref' in property) ||
    (Array.isArray(property.type) && property.type.includes('null')) ||
    (property.anyOf ?? []).some((one) => one.type === 'null')
  )
}
