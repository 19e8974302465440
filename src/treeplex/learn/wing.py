"""Registers the learning package: learners, agents that play networks, and commands."""

from treeplex.base.wings import Wing

WING = Wing(
    sources=("treeplex.learn.sources:RebelNetworks",),
    policy_files={"network": "treeplex.learn.neural.network_policy:shipped_network"},
    devices=("treeplex.learn.torch.form:tensor_solver",),
    spot_devices={
        "device": "treeplex.learn.common.device:device_name",
        "form": "treeplex.learn.torch.spots.form:spot_form_on",
        "memory": "treeplex.learn.torch.spots.memory:spot_memory",
    },
    first_streets={
        "job": "treeplex.learn.first_street.until:until_job",
        "unlike_training": "treeplex.learn.first_street.until:unlike_training",
    },
    warm_ups={
        "learners": "treeplex.learn.warm_up:compile_learners",
        "whole hands": "treeplex.learn.warm_up:compile_whole_hands",
    },
    agents=(
        "treeplex.learn.rebel.training.named_agents:LookaheadSearch",
        "treeplex.learn.rebel.training.named_agents:Rebel",
        "treeplex.learn.resolver.deepstack:HoldemDeepStack",
        "treeplex.learn.best_response.named_agent:LearnedResponse",
        "treeplex.learn.alphaholdem.named_agent:AlphaHoldemKind",
        "treeplex.learn.resolver.kind:Resolver",
    ),
    played_folders={
        "deepstack": "deepstack:net",
        "best response": "best_response:file",
        "alphaholdem": "alphaholdem:net",
    },
    agent_texts=("treeplex.learn.rebel.training.named_agents:rebel_named",),
    learners=(
        "treeplex.learn.rebel.training.kind:RebelKind",
        "treeplex.learn.deepstack.kind:DeepStackKind",
        "treeplex.learn.discount.kind:DISCOUNT_LEARNERS",
        "treeplex.learn.best_response.kind:BestResponseKind",
        "treeplex.learn.alphaholdem.kind:AlphaHoldemKind",
        "treeplex.learn.blueprint.kind:BlueprintKind",
        "treeplex.learn.hand_values.kind:HandValuesKind",
    ),
    commands=("treeplex.learn.cli",),
)
