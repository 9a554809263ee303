// Vercel's AI SDK: an answer, a stream and a tool, over three APIs. Prints what it got, as JSON.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const baseURL = `${process.env.GATEWAY_URL}/v1`;
const apiKey = "none";
const models = {
  compatible: createOpenAICompatible({ name: "heterodyne", baseURL, apiKey })("gpt-5"),
  responses: createOpenAI({ baseURL, apiKey })("gpt-5"),
  anthropic: createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5"),
};
const weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
});

const found = {};
for (const [name, model] of Object.entries(models)) {
  const { text } = await generateText({ model, prompt: "Say hello." });
  let streamed = "";
  for await (const piece of streamText({ model, prompt: "Say hello." }).textStream) streamed += piece;
  const loop = await generateText({ model, prompt: "What is the weather?", tools: { weather }, stopWhen: stepCountIs(3) });
  found[name] = [text, streamed, loop.text];
}
console.log(JSON.stringify(found));
