// Selection: one value of the sorted order without sorting. It takes linear time on average, a sort of a year of samples ten times as long.

/**
 * Returns the value at an index of the sorted order (C. A. R. Hoare, Algorithm 65: Find). Reorders the values, which
 * must not contain NaN.
 */
export function selectSmallest(values: Float64Array, index: number): number {
  let [low, high] = [0, values.length - 1]
  while (low < high) {
    const pivot = values[(low + high) >>> 1]!
    let [left, right] = [low, high]
    while (left <= right) {
      while (values[left]! < pivot) left++
      while (values[right]! > pivot) right--
      if (left > right) break
      const swapped = values[left]!
      values[left++] = values[right]!
      values[right--] = swapped
    }
    if (index <= right) high = right
    else if (index >= left) low = left
    else break
  }
  return values[index]!
}
