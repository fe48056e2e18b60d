// The ordering parameter of a list as keys and directions. That the keys are known was checked by the contract.

/** `-created,id` becomes `[{ key: 'created', descending: true }, { key: 'id', descending: false }]`. */
export function parseOrdering<Key extends string>(text: string): { key: Key; descending: boolean }[] {
  return text.split(',').map((part) => {
    const descending = part.startsWith('-')
    return { key: (descending ? part.slice(1) : part) as Key, descending }
  })
}
