import { Problem, Unreachable } from '../api/ask.ts'

/** An error, as the server puts it, with what to do about it. */
export function Trouble({ error, again }: { error: Error; again?: () => void }) {
  const refused = error instanceof Problem && error.status === 403
  return (
    <div class="trouble" role="alert">
      <p>
        {refused && <strong>Your token does not allow this. </strong>}
        {sentence(error)}
      </p>
      {again && (error instanceof Unreachable || (error instanceof Problem && error.status >= 500)) && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

/** The text of an error as a sentence. */
export function sentence(error: Error): string {
  const text = error.message || 'Something went wrong'
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}
