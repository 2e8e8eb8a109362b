interface Node<T> {
  readonly item: T;
  readonly priority: number;
  readonly order: number;
}

/**
 * A binary heap: the item with the highest priority comes out first, and of equal priorities the
 * one that went in first.
 */
export class PriorityQueue<T> {
  #heap: Node<T>[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  push(item: T, priority = 0): void {
    if (Number.isNaN(priority)) throw new RangeError('priority must be a number');
    this.#heap.push({ item, priority, order: this.#added });
    this.#added += 1;
    this.#up(this.#heap.length - 1);
  }

  peek(): T | undefined {
    return this.#heap[0]?.item;
  }

  pop(): T | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#down(0);
    }
    return first.item;
  }

  /** Takes out every item for which `test` holds, and says how many there were. */
  removeWhere(test: (item: T) => boolean): number {
    const kept = this.#heap.filter((node) => !test(node.item));
    const removed = this.#heap.length - kept.length;
    this.#heap = kept;
    for (let index = Math.floor(kept.length / 2) - 1; index >= 0; index -= 1) this.#down(index);
    return removed;
  }

  /** Empties the queue in order. */
  *drain(): Generator<T> {
    while (this.#heap.length > 0) yield this.pop() as T;
  }

  #up(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = Math.floor((index - 1) / 2);
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #down(start: number): void {
    let index = start;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      let next = index;
      if (left < this.#heap.length && this.#isBefore(left, next)) next = left;
      if (right < this.#heap.length && this.#isBefore(right, index)) next = right;
      if (next === index) return;
      this.#swap(index, next);
      index = next;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const first = this.#at(a);
    const second = this.#at(b);
    if (first.priority !== second.priority) return first.priority > second.priority;
    return first.order < second.order;
  }

  #swap(a: number, b: number): void {
    const node = this.#at(a);
    this.#heap[a] = this.#at(b);
    this.#heap[b] = node;
  }

  #at(index: number): Node<T> {
    const node = this.#heap[index];
    if (node === undefined) throw new RangeError(`no node at ${index}`);
    return node;
  }
}
