// The fields that a request may change, as one list of names for reading, comparing, storing and auditing them.

/** Returns these fields of a record. */
export const fieldsOf = <Row, Name extends keyof Row>(
  row: Row,
  names: readonly Name[],
): { -readonly [N in Name]: Row[N] } =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as { -readonly [N in Name]: Row[N] }
