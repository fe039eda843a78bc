/** Lets the reader keep a file. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const anchor = document.createElement('a')
  anchor.href = address
  anchor.download = name
  document.body.append(anchor)
  anchor.click()
  anchor.remove()
  // Some browsers read the address after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** A name for a file: letters, digits, `-`, `_` and `.` stay. */
export const fileName = (text: string): string =>
  text.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^-+|-+$/g, '') || 'noregret'
