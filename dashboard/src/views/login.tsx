import { useState } from 'preact/hooks'
import { Problem } from '../api/ask.ts'
import { logIn } from '../app/session.ts'
import { Trouble } from '../parts/trouble.tsx'

/** Asks for a token. */
export function Login() {
  const [token, setToken] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await logIn(token.trim())
    } catch (problem) {
      const refused = problem instanceof Problem && (problem.status === 401 || problem.status === 403)
      setError(
        refused
          ? new Error('The server does not know this token: it may be mistyped, expired or revoked.')
          : (problem as Error),
      )
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="login" tabIndex={-1}>
      <form onSubmit={submit} aria-labelledby="question">
        <p class="brand">noregret</p>
        <h1 id="question">Who are you?</h1>
        <label class="field">
          Token
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            autofocus
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        {error && <Trouble error={error} />}
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy || token.trim() === ''}>
            {busy ? 'Logging in …' : 'Log in'}
          </button>
        </div>
        <p class="quiet small">
          Whoever runs the server makes tokens. One with the role <em>read</em> is enough to look at
          everything.
        </p>
      </form>
    </main>
  )
}
