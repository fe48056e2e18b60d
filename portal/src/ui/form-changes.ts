// The changed values of a form. Only these are sent, so that a colleague's change of another field stays. Pure.

/** Returns the values that have changed since the form was opened; the order of lists matters. */
export const changesOf = <Values extends Readonly<Record<string, unknown>>>(
  opened: Values,
  values: Values,
): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(opened[name])),
  ) as Partial<Values>
