// Copied into a folder with @huggingface/transformers and run there by nano-decode.ts: answers each
// line of JSON ({ prompts, tokens }) with the milliseconds that greedy replies of that length took.
import { createInterface } from 'node:readline';
import { AutoModelForCausalLM, env, Tensor } from '@huggingface/transformers';

const [folder] = process.argv.slice(2);
env.allowRemoteModels = false;
env.localModelPath = folder;
const model = await AutoModelForCausalLM.from_pretrained('model', {
  dtype: 'fp32',
  device: 'cpu',
  session_options: { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential' },
});
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { prompts, tokens } = JSON.parse(line);
  const dims = [prompts.length, prompts[0].length];
  const ids = BigInt64Array.from(prompts.flat(), BigInt);
  const began = performance.now();
  const output = await model.generate({
    input_ids: new Tensor('int64', ids, dims),
    attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), dims),
    do_sample: false,
    min_new_tokens: tokens,
    max_new_tokens: tokens,
    eos_token_id: -1,
  });
  const ms = performance.now() - began;
  const made = output.dims[1] - dims[1];
  const first = Array.from(output.data.slice(dims[1], dims[1] + Math.min(5, made)), Number);
  process.stdout.write(`${JSON.stringify({ ms, made, first })}\n`);
}
