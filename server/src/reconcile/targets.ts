// The parts that work on targets, such as one loop for each scrubber of the platform file. Each row has one part; a row with other settings
// gets a new part, after the former one has stopped. An invalid row stops no other.

export type TargetPart = {
  start(): void
  /** Resolves once a run in progress has ended. */
  stop(): Promise<void>
}

export type TargetsOptions<Row, Part> = {
  /** Returns everything that the part is made of, as a text; by default all of the row. */
  readonly settingsOf?: (row: Row) => string
  /** Returns the part, inert. Throws if the settings are invalid: the next update tries again. */
  readonly create: (row: Row) => Part
  readonly onInvalid: (row: Row, error: unknown) => void
}

export class Targets<Row extends { readonly id: number }, Part extends TargetPart> {
  readonly #options: TargetsOptions<Row, Part>
  readonly #running = new Map<number, { readonly settings: string; readonly part: Part }>()

  constructor(options: TargetsOptions<Row, Part>) {
    this.#options = options
  }

  get parts(): Part[] {
    return [...this.#running.values()].map(({ part }) => part)
  }

  /** Stops the parts of rows that are gone or have changed, and then starts parts for rows without one. */
  async update(rows: readonly Row[]): Promise<void> {
    const wanted = new Map(rows.map((row) => [row.id, this.#settingsOf(row)]))
    for (const [id, { settings, part }] of this.#running) {
      if (wanted.get(id) === settings) continue
      this.#running.delete(id)
      await part.stop()
    }
    for (const row of rows) this.add(row)
  }

  /** Starts the part of a row, unless it has one. */
  add(row: Row, create: (row: Row) => Part = this.#options.create): void {
    if (this.#running.has(row.id)) return
    try {
      const part = create(row)
      this.#running.set(row.id, { settings: this.#settingsOf(row), part })
      part.start()
    } catch (error) {
      this.#options.onInvalid(row, error)
    }
  }

  async stop(): Promise<void> {
    const { parts } = this
    this.#running.clear()
    await Promise.all(parts.map((part) => part.stop()))
  }

  #settingsOf(row: Row): string {
    return (this.#options.settingsOf ?? JSON.stringify)(row)
  }
}
