"""Reward function and code interpreter for verl, over the HTTP service of `cr sandbox serve`.

``cr_verl.reward.compute_score`` and ``compute_reward`` go into verl's
custom_reward_function, ``cr_verl.tool.SandboxTool`` into its tool configuration;
`cr train rl --engine verl` writes both. Only the standard library is needed, and
the tool needs verl itself.
"""
