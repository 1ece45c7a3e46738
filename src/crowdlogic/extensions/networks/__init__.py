"""Neural networks, crowd layers and doctor nets (torch), with export to ONNX and Hugging Face."""

from crowdlogic.registry import lazy_exports

ENTRIES = {
    "classifiers": {
        "kim-cnn": "crowdlogic.extensions.networks.kim_cnn:KimCNN",
        "cnn-gru": "crowdlogic.extensions.networks.cnn_gru:CNNGRU",
        "bilstm-crf": "crowdlogic.extensions.networks.bilstm_crf:BiLSTMCRF",
        "mlp": "crowdlogic.extensions.networks.mlp:MLP",
        "transformer": "crowdlogic.extensions.networks.transformer:Transformer",
    },
    "costs": {
        "kim-cnn": "crowdlogic.extensions.networks.costs:kim_cnn_cost",
        "cnn-gru": "crowdlogic.extensions.networks.costs:cnn_gru_cost",
        "bilstm-crf": "crowdlogic.extensions.networks.costs:bilstm_crf_cost",
        "mlp": "crowdlogic.extensions.networks.costs:mlp_cost",
        "transformer": "crowdlogic.extensions.networks.costs:transformer_cost",
    },
    "models": {
        "torch": "crowdlogic.extensions.networks.adapters:adapt_module",
        "hugging-face": "crowdlogic.extensions.networks.adapters:adapt_folder",
    },
    "learners": {
        "crowd-layer": "crowdlogic.extensions.networks.crowd_methods:CrowdLayer",
        "dl-dn": "crowdlogic.extensions.networks.crowd_methods:DoctorNets",
        "dl-wdn": "crowdlogic.extensions.networks.crowd_methods:WeightedDoctorNets",
    },
    "presets": {
        "sentiment": "crowdlogic.extensions.networks.presets:sentiment_preset",
        "sentiment-paper": "crowdlogic.extensions.networks.presets:sentiment_paper_preset",
        "sentiment-encoder": "crowdlogic.extensions.networks.presets:sentiment_encoder_preset",
        "ner": "crowdlogic.extensions.networks.presets:ner_preset",
        "ner-released": "crowdlogic.extensions.networks.presets:ner_released_preset",
        "ner-paper": "crowdlogic.extensions.networks.presets:ner_paper_preset",
    },
}
"""Mapping from registry to component name to "module:attribute"; see crowdlogic.registry."""

COMMANDS = {
    "export": (
        "learning",
        "crowdlogic.extensions.networks.export_command",
        "Export a trained run as ONNX or as a Hugging Face folder.",
    ),
}
"""Mapping from command to help panel, module and one-line help; see crowdlogic.cli.app."""

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
