// What a person has changed in a form. Only that is sent, so that a colleague's change of another field stays. Pure.

/** Returns the values that differ from those with which the form was opened; lists are compared with their order. */
export const changesOf = <Values extends Readonly<Record<string, unknown>>>(
  opened: Values,
  values: Values,
): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(opened[name])),
  ) as Partial<Values>
