export interface Schema {
  teams: { id: number }
}
