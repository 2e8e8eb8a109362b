import type { ToolResult } from '../tools/tool.ts';
import type { ToolCall } from './messages.ts';

export interface RepetitionWatch {
  /** How often exactly this call has failed with exactly this result, in a row; 0 when it worked. */
  count(call: ToolCall, result: ToolResult): number;
}

/** A policy that repeats the same failing call is told so: small models loop otherwise. */
export function createRepetitionWatch(): RepetitionWatch {
  let last = '';
  let times = 0;
  return {
    count(call, result) {
      if (result.ok) {
        last = '';
        times = 0;
        return 0;
      }
      const key = JSON.stringify([call.name, call.arguments, result.text]);
      times = key === last ? times + 1 : 1;
      last = key;
      return times;
    },
  };
}
